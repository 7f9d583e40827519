"""The result of playing a schedule of SDS: the classes of ``schedules.group_trace`` with the types of SDS."""

from ..schedules import group_trace
from .trace import Step, Trace, Wire

Packet = group_trace.Packet[Wire]
Loss = group_trace.Loss[Wire]
Act = group_trace.Act[Step, Trace, Wire]
GroupTrace = group_trace.GroupTrace[Step, Trace, Wire]
