"""SDS on the stage: its participants, scripted peers, codecs and generated schedules."""
