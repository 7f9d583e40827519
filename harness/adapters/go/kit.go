package main

// The kit: the testee protocol on stdin and stdout, one JSON object per line. Do not change this file; it needs only Go
// 1.19 or newer. Fill in adapter.go.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Implementation is yours: it makes participants. Filters, Codec and RepairTimer have commands that need no
// participant.
type Implementation interface {
	// Hello returns the declaration of the implementation. The run judges by the given revision of the specification.
	Hello(revision string) HelloReply
	// Open makes a participant that is a member of the channels, and returns the effective configuration.
	Open(Open) (Participant, Configuration, error)
}

// Participant is one participant. SyncSender, EphemeralSender and Observer have its optional commands.
//
// Errors made by Rejected and Unsupported are answered as `rejected` and `unsupported`, all other errors as `error`. A
// panic ends the process.
type Participant interface {
	Send(Send) (Effects, error)
	Receive(Receive) (Effects, error)
	Tick(Tick) (Effects, error)
	Close(Close) (Effects, error)
}

type (
	// SyncSender is required by CAPABILITY_SYNC.
	SyncSender interface {
		SendSync(SendSync) (Effects, error)
	}
	// EphemeralSender is required by CAPABILITY_EPHEMERAL.
	EphemeralSender interface {
		SendEphemeral(SendEphemeral) (Effects, error)
	}
	// Observer is required by CAPABILITY_OBSERVE.
	Observer interface{ Observe(Observe) (State, error) }
	// Filters is required by CAPABILITY_FILTER_CODEC.
	Filters interface {
		BuildFilter(BuildFilter) (Filter, error)
		QueryFilter(QueryFilter) (Membership, error)
	}
	// Codec is required by CAPABILITY_MESSAGE_CODEC.
	Codec interface {
		Encode(Encode) (Encoded, error)
		Decode(Decode) (Decoded, error)
	}
	// RepairTimer is required by CAPABILITY_REPAIR_TIMES.
	RepairTimer interface {
		RepairTimes(RepairTimes) (RepairOffsets, error)
	}
)

// Rejected is for input that your implementation rejects without a change of its state.
func Rejected(reason string) error { return refusal{"rejected", "reason", reason} }

// Unsupported is for commands and fields that your implementation does not support.
func Unsupported(what string) error { return refusal{"unsupported", "what", what} }

type refusal struct{ answer, field, text string }

func (r refusal) Error() string { return r.text }

// ---- The loop --------------------------------------------------------------------------------------------------

// Serve answers every line of stdin until it ends.
func Serve(mine Implementation) {
	if framing := os.Getenv("SDS_TESTEE_FRAMING"); framing != "" && framing != "json" {
		fmt.Fprintln(os.Stderr, "this adapter speaks JSON lines only")
		os.Exit(1)
	}
	replies := os.Stdout
	os.Stdout = os.Stderr // What is printed by mistake is not to get among the replies.
	server := &server{mine: mine, participants: map[uint64]Participant{}}
	for lines := bufio.NewReaderSize(os.Stdin, 1<<16); ; {
		line, ended := lines.ReadBytes('\n')
		if len(line) > 0 {
			if _, err := replies.Write(append(server.reply(line), '\n')); err != nil {
				return
			}
		}
		if ended != nil {
			return
		}
	}
}

type server struct {
	mine         Implementation
	capabilities []string
	participants map[uint64]Participant
	last         uint64
}

func (s *server) reply(line []byte) []byte {
	var id uint64
	answer, value := s.handle(line, &id)
	reply, err := json.Marshal(map[string]any{"id": strconv.FormatUint(id, 10), answer: value})
	if err != nil { // A float64 that is no number, for example.
		fault := map[string]string{"message": err.Error()}
		reply, _ = json.Marshal(map[string]any{"id": strconv.FormatUint(id, 10), "error": fault})
	}
	return reply
}

// handle returns the name and the value of an answer, which may be an error.
func (s *server) handle(line []byte, id *uint64) (answer string, value any) {
	name, fields, err := command(line, id)
	if err == nil {
		answer, value, err = s.answer(name, fields)
	}
	if err == nil {
		return answer, value
	}
	refused := refusal{"error", "message", err.Error()}
	errors.As(err, &refused)
	return refused.answer, map[string]string{refused.field: refused.text}
}

// command returns the parts of a request: its id, and the name and the fields of its one command.
func command(line []byte, id *uint64) (name string, fields []byte, err error) {
	var request map[string]json.RawMessage
	if err := json.Unmarshal(line, &request); err != nil {
		return "", nil, fmt.Errorf("not a request: %w", err)
	}
	if given, ok := request["id"]; ok {
		number, err := strconv.ParseUint(strings.Trim(string(given), `"`), 10, 64)
		if err != nil {
			return "", nil, fmt.Errorf("not an id: %s", given)
		}
		*id = number
		delete(request, "id")
	}
	if len(request) > 1 {
		return "", nil, errors.New("more than one command in a request")
	}
	for only, value := range request {
		return only, value, nil
	}
	return "", nil, Unsupported("no command")
}

// ---- The commands ----------------------------------------------------------------------------------------------

type handler struct {
	answer, capability string
	do                 func(*server, []byte) (any, error)
}

var commands = map[string]handler{
	"hello":         {"hello", "", (*server).hello},
	"open":          {"opened", "", (*server).open},
	"close":         {"effects", "", (*server).close},
	"send":          {"effects", "", to(Participant.Send)},
	"receive":       {"effects", "", to(Participant.Receive)},
	"tick":          {"effects", "", to(Participant.Tick)},
	"sendEphemeral": {"effects", "EPHEMERAL", to(EphemeralSender.SendEphemeral)},
	"sendSync":      {"effects", "SYNC", to(SyncSender.SendSync)},
	"observe":       {"state", "OBSERVE", to(Observer.Observe)},
	"buildFilter":   {"filter", "FILTER_CODEC", pure(Filters.BuildFilter)},
	"queryFilter":   {"membership", "FILTER_CODEC", pure(Filters.QueryFilter)},
	"encode":        {"encoded", "MESSAGE_CODEC", pure(Codec.Encode)},
	"decode":        {"decoded", "MESSAGE_CODEC", pure(Codec.Decode)},
	"repairTimes":   {"repairOffsets", "REPAIR_TIMES", pure(RepairTimer.RepairTimes)},
}

func (s *server) answer(name string, fields []byte) (answer string, value any, err error) {
	command, known := commands[name]
	if !known {
		return "", nil, Unsupported(name)
	}
	if command.capability != "" {
		err = s.need(command.capability)
	}
	if err == nil {
		value, err = command.do(s, fields)
	}
	if errors.Is(err, errMissing) {
		err = fmt.Errorf("its capability is declared, but there is no method for %s", name)
	}
	return command.answer, value, err
}

func (s *server) hello(fields []byte) (any, error) {
	var in struct{ Revision string }
	if err := json.Unmarshal(fields, &in); err != nil {
		return nil, err
	}
	out := s.mine.Hello(in.Revision)
	out.ProtocolVersion = 1
	s.capabilities = out.Capabilities
	return out, nil
}

func (s *server) open(fields []byte) (any, error) {
	in, err := read[Open](s, fields)
	if err != nil {
		return nil, err
	}
	participant, inForce, err := s.mine.Open(in)
	if err != nil {
		return nil, err
	}
	s.last++
	s.participants[s.last] = participant
	return Opened{s.last, inForce}, nil
}

func (s *server) close(fields []byte) (any, error) {
	return to(func(who Participant, in Close) (Effects, error) {
		delete(s.participants, in.Handle)
		return who.Close(in)
	})(s, fields)
}

// need returns nil if a capability with this prefix is declared, else an Unsupported error.
func (s *server) need(capability string) error {
	for _, declared := range s.capabilities {
		if strings.HasPrefix(declared, "CAPABILITY_"+capability) {
			return nil
		}
	}
	return Unsupported(capability)
}

// errMissing is the error of a command whose interface is not implemented.
var errMissing = errors.New("missing")

// to makes a command handler that calls a method of the participant; pure makes one that calls a method of the
// implementation.
func to[Who any, In interface{ handle() uint64 }, Out any](
	do func(Who, In) (Out, error),
) func(*server, []byte) (any, error) {
	return func(s *server, fields []byte) (any, error) {
		in, err := read[In](s, fields)
		if err != nil {
			return nil, err
		}
		participant, known := s.participants[in.handle()]
		if !known {
			return nil, fmt.Errorf("no participant has handle %d", in.handle())
		}
		who, implemented := participant.(Who)
		if !implemented {
			return nil, errMissing
		}
		return do(who, in)
	}
}

func pure[Who, In, Out any](do func(Who, In) (Out, error)) func(*server, []byte) (any, error) {
	return func(s *server, fields []byte) (any, error) {
		in, err := read[In](s, fields)
		if err != nil {
			return nil, err
		}
		who, implemented := s.mine.(Who)
		if !implemented {
			return nil, errMissing
		}
		return do(who, in)
	}
}

// read parses the fields of a command. Unknown fields, and fields whose capability is not declared, are unsupported.
func read[In any](s *server, fields []byte) (in In, err error) {
	decoder := json.NewDecoder(bytes.NewReader(fields))
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&in); err != nil {
		if _, field, unknown := strings.Cut(err.Error(), "unknown field "); unknown {
			err = Unsupported("field " + strings.Trim(field, `"`))
		}
		return in, err
	}
	if command, ok := any(in).(interface{ needs() []need }); ok {
		for _, need := range command.needs() {
			if need.asked && err == nil {
				err = s.need(need.capability)
			}
		}
	}
	return in, err
}
