"""What came of a schedule of SDS: the steps, traces and wires of its performances are those of SDS."""

from ..schedules import performance
from .trace import Step, Trace, Wire

Packet = performance.Packet[Wire]
Loss = performance.Loss[Wire]
Act = performance.Act[Step, Trace, Wire]
Performance = performance.Performance[Step, Trace, Wire]
