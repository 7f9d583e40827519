package main

// A toy SDS with little more than the mandatory parts of the specification. Replace it with your implementation.
//
// A participant sends, receives, delivers in causal order and keeps a log. It never sends anything again, acknowledges
// nothing, sends neither sync nor ephemeral messages, and repairs nothing.

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"sort"
	"unicode/utf8"
)

const (
	historySize = 2 // Message IDs in a causal history.
	// Size of the bloom filter: about one false positive in a hundred.
	filterIDs, filterBits, filterHashes = 100, 1024, 7
	// Wire types of protobuf.
	varint, fixed64, sized, fixed32 = 0, 1, 2, 5
)

var errNoMessage = errors.New("these bytes are not a message")

// message is a message of a channel. Without a timestamp it is ephemeral, without content a sync message.
type message struct {
	sender, id, channel string
	stamped             bool
	lamport             uint64
	history             []string
	bloom, content      []byte
}

// ---- The wire: protobuf by hand --------------------------------------------------------------------------------

func addVarint(wire []byte, number uint64) []byte {
	for ; number > 0x7f; number >>= 7 {
		wire = append(wire, byte(number)|0x80)
	}
	return append(wire, byte(number))
}

// addSized adds a field with a length prefix.
func addSized(wire []byte, number uint64, value []byte) []byte {
	wire = addVarint(addVarint(wire, number<<3|sized), uint64(len(value)))
	return append(wire, value...)
}

func encode(m message) []byte {
	wire := addSized(nil, 1, []byte(m.sender))
	wire = addSized(wire, 2, []byte(m.id))
	wire = addSized(wire, 3, []byte(m.channel))
	wire = addVarint(addVarint(wire, 10<<3|varint), m.lamport)
	for _, id := range m.history {
		wire = addSized(wire, 11, addSized(nil, 1, []byte(id)))
	}
	return addSized(addSized(wire, 12, m.bloom), 20, m.content)
}

// takeVarint returns the number at the beginning of wire, and the rest of wire.
func takeVarint(wire []byte) (number uint64, rest []byte, err error) {
	for i := 0; i < len(wire) && i < 10; i++ {
		number |= uint64(wire[i]&0x7f) << (7 * i)
		if wire[i] < 0x80 {
			return number, wire[i+1:], nil
		}
	}
	return 0, nil, errNoMessage
}

// eachField calls take with every field: its key, which is number<<3 | wire type, and its number or its bytes.
func eachField(wire []byte, take func(key, number uint64, value []byte) error) error {
	for len(wire) > 0 {
		key, rest, err := takeVarint(wire)
		number, size := uint64(0), uint64(0)
		if kind := key & 7; err == nil && (kind == varint || kind == sized) {
			number, rest, err = takeVarint(rest)
		}
		if err != nil || key>>3 == 0 {
			return errNoMessage
		}
		switch key & 7 {
		case varint:
		case fixed64:
			size = 8
		case sized:
			size = number
		case fixed32:
			size = 4
		default:
			return errNoMessage
		}
		if size > uint64(len(rest)) {
			return errNoMessage
		}
		if err := take(key, number, rest[:size]); err != nil {
			return err
		}
		wire = rest[size:]
	}
	return nil
}

// decode returns the message in these bytes. It skips unknown fields, including those of SDS-R.
func decode(wire []byte) (m message, err error) {
	texts := map[uint64]*string{1<<3 | sized: &m.sender, 2<<3 | sized: &m.id, 3<<3 | sized: &m.channel}
	err = eachField(wire, func(key, number uint64, value []byte) error {
		switch key {
		case 10<<3 | varint:
			m.stamped, m.lamport = true, number
		case 11<<3 | sized:
			m.history = append(m.history, "")
			last := &m.history[len(m.history)-1]
			return eachField(value, func(key, _ uint64, value []byte) error {
				return takeText(map[uint64]*string{1<<3 | sized: last}[key], value)
			})
		case 20<<3 | sized:
			m.content = value
		default:
			return takeText(texts[key], value)
		}
		return nil
	})
	return m, err
}

// takeText stores a text field in *to. It skips the field if to is nil.
func takeText(to *string, value []byte) error {
	if to == nil {
		return nil
	}
	if !utf8.Valid(value) {
		return errNoMessage
	}
	*to = string(value)
	return nil
}

// ---- The protocol ----------------------------------------------------------------------------------------------

// channel is the state of one participant in one channel.
type channel struct {
	participant, id string
	clock           uint64    // The Lamport timestamp.
	log             []message // By timestamp, equal timestamps by the bytes of IDs.
	logged          map[string]bool
	waiting         []message // Received, with dependencies that are not in the log.
	received        []string  // What the filter holds: the newest IDs, so it never fills.
}

func newChannel(participant, id string, nowMs uint64) *channel {
	return &channel{participant: participant, id: id, clock: nowMs, logged: map[string]bool{}}
}

// send returns the ID and the bytes of a new message.
func (c *channel) send(content []byte, nowMs uint64) (id string, wire []byte, err error) {
	if len(content) == 0 {
		return "", nil, errors.New("there is no content")
	}
	if c.clock == math.MaxUint64 {
		return "", nil, errors.New("the Lamport timestamp has reached its maximum")
	}
	lamport := c.clock + 1
	if nowMs > lamport {
		lamport = nowMs
	}
	// The timestamp distinguishes messages of one sender in one channel; the hash distinguishes senders and channels.
	who := addSized(addSized(addSized(nil, 1, []byte(c.participant)), 3, []byte(c.id)), 20, content)
	m := message{sender: c.participant, channel: c.id, stamped: true, lamport: lamport, content: content}
	m.id = fmt.Sprintf("%x-%016x", lamport, hash(who))
	for i := len(c.log) - historySize; i < len(c.log); i++ {
		if i >= 0 {
			m.history = append(m.history, c.log[i].id)
		}
	}
	m.bloom = c.bloom()
	c.keep(m)
	return m.id, encode(m), nil
}

// receive returns the messages that are delivered now, in order.
func (c *channel) receive(m message) (delivered []message, err error) {
	if m.sender == c.participant || len(m.content) == 0 {
		return nil, nil // One's own; or a sync message, which speaks of acknowledgements and repairs alone.
	}
	if !m.stamped {
		return []message{m}, nil
	}
	if m.id == "" {
		return nil, errors.New("a message without an ID")
	}
	if c.logged[m.id] || c.waits(m.id) {
		return nil, nil
	}
	c.received = append(c.received, m.id)
	if len(c.received) > filterIDs {
		c.received = c.received[1:]
	}
	c.waiting = append(c.waiting, m)
	for i := c.ready(); i >= 0; i = c.ready() {
		delivered = append(delivered, c.waiting[i])
		c.keep(c.waiting[i])
		c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
	}
	return delivered, nil
}

func (c *channel) waits(id string) bool {
	for _, m := range c.waiting {
		if m.id == id {
			return true
		}
	}
	return false
}

// ready is the index of the first message with no missing dependency, or -1.
func (c *channel) ready() int {
next:
	for i, m := range c.waiting {
		for _, id := range m.history {
			if !c.logged[id] {
				continue next
			}
		}
		return i
	}
	return -1
}

// keep puts a message into the log, and updates the clock.
func (c *channel) keep(m message) {
	if m.lamport > c.clock {
		c.clock = m.lamport
	}
	place := sort.Search(len(c.log), func(i int) bool {
		other := c.log[i]
		return other.lamport > m.lamport || other.lamport == m.lamport && other.id > m.id
	})
	c.log = append(c.log, m)
	copy(c.log[place+1:], c.log[place:])
	c.log[place] = m
	c.logged[m.id] = true
}

// bloom is a filter over the newest IDs that were received.
func (c *channel) bloom() []byte {
	bits := make([]byte, filterBits/8)
	for _, id := range c.received {
		mixed := hash([]byte(id))
		for n := uint64(0); n < filterHashes; n++ {
			place := (mixed>>32 + n*(mixed&0xffffffff)) % filterBits
			bits[place/8] |= 1 << (place % 8)
		}
	}
	return bits
}

// hash is FNV-1a with 64 bits, which is good enough for a toy.
func hash(data []byte) uint64 {
	out := fnv.New64a()
	out.Write(data)
	return out.Sum64()
}
