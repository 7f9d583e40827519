package main

// The adapter: passes each command to the implementation, and returns the result. The implementation is the toy of
// toy.go: replace it by yours. README.md lists the steps.

func main() { Serve(adapter{}) }

type adapter struct{}

func (adapter) Hello(string) HelloReply {
	return HelloReply{
		Name:      "toy-sds",
		Version:   "0.1.0",
		Language:  "Go",
		Revisions: []string{"sds-2026-01"},
		// Declare only what works: tests of undeclared capabilities are skipped, and do not fail.
		Capabilities: []string{"CAPABILITY_VIRTUAL_CLOCK", "CAPABILITY_CHANNELS", "CAPABILITY_DELIVERED"},
	}
}

func (adapter) Open(in Open) (Participant, Configuration, error) {
	who := participant{}
	for _, id := range in.Channels {
		who[id] = newChannel(in.ParticipantID, id, in.NowMs)
	}
	// The toy has nothing to configure. Still report the configuration in force.
	history, room, rate, sdsR := uint32(historySize), uint32(filterIDs), 0.01, false
	return who, Configuration{CausalHistorySize: &history, BloomCapacity: &room, BloomErrorRate: &rate, SdsR: &sdsR}, nil
}

// participant maps the ID of each channel that it joined to the channel.
type participant map[string]*channel

func (p participant) Send(in Send) (Effects, error) {
	channel, joined := p[in.ChannelID]
	if !joined {
		return Effects{}, Rejected("not a member of this channel")
	}
	id, wire, err := channel.send(in.Content, in.NowMs)
	if err != nil {
		return Effects{}, Rejected(err.Error())
	}
	return Effects{Broadcasts: [][]byte{wire}, MessageID: id}, nil
}

func (p participant) Receive(in Receive) (Effects, error) {
	message, err := decode(in.Wire)
	if err != nil {
		return Effects{}, Rejected(err.Error())
	}
	channel, joined := p[message.channel]
	if !joined {
		return Effects{}, nil // Messages of other channels are ignored.
	}
	messages, err := channel.receive(message)
	if err != nil {
		return Effects{}, Rejected(err.Error())
	}
	out := Effects{}
	for _, m := range messages {
		out.Events = append(out.Events, Event{ChannelID: m.channel, Delivered: &Delivered{m.id, m.content}})
	}
	return out, nil
}

func (p participant) Tick(Tick) (Effects, error) { return Effects{}, nil } // The toy has no periodic work.

func (p participant) Close(Close) (Effects, error) { return Effects{}, nil }
