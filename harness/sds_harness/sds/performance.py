"""The result of playing a schedule of SDS: the classes of ``schedules.performance`` with the types of SDS."""

from ..schedules import performance
from .trace import Step, Trace, Wire

Packet = performance.Packet[Wire]
Loss = performance.Loss[Wire]
Act = performance.Act[Step, Trace, Wire]
Performance = performance.Performance[Step, Trace, Wire]
