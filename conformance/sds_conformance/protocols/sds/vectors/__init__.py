"""Golden vectors of SDS: the groups, each in the module of what it is about, and what it takes to ask for them.

``material`` is what the rest of the suite is handed. ``shapes`` names who asks for what; the askers stand in
``running``, what plays whole conversations in ``conversations``.
"""
