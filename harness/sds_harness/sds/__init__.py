"""SDS on stage: its participants, scripted peers, codecs, and the schedules that are generated for them."""
