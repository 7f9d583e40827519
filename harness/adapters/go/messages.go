package main

// The messages of testee.proto, which says what each field means. Part of the kit: do not change it.

import "encoding/json"

// Optional fields are pointers: nil means unset.
type (
	HelloReply struct {
		ProtocolVersion uint32    `json:"protocolVersion"` // Set by the kit.
		Name            string    `json:"name"`
		Version         string    `json:"version,omitempty"`
		Language        string    `json:"language,omitempty"`
		Homepage        string    `json:"homepage,omitempty"`
		Revisions       []string  `json:"revisions,omitempty"`
		Capabilities    []string  `json:"capabilities,omitempty"`
		Profiles        *Profiles `json:"profiles,omitempty"`
		Limits          *Limits   `json:"limits,omitempty"`
		Alone           bool      `json:"alone,omitempty"`
	}
	Profiles struct {
		Bloom   string `json:"bloom,omitempty"`
		Hash    string `json:"hash,omitempty"`
		IDOrder string `json:"idOrder,omitempty"`
		Dialect string `json:"dialect,omitempty"`
	}
	Limits struct {
		ContentBytes         *uint64 `json:"contentBytes,string,omitempty"`
		LamportAheadMs       *uint64 `json:"lamportAheadMs,string,omitempty"`
		LogEntries           *uint64 `json:"logEntries,string,omitempty"`
		RepairClockMs        *uint64 `json:"repairClockMs,string,omitempty"`
		WaitingMessages      *uint64 `json:"waitingMessages,string,omitempty"`
		CascadeMessages      *uint64 `json:"cascadeMessages,string,omitempty"`
		LatePlaces           *uint64 `json:"latePlaces,string,omitempty"`
		OutstandingMessages  *uint64 `json:"outstandingMessages,string,omitempty"`
		HistoryEntries       *uint64 `json:"historyEntries,string,omitempty"`
		MessageIDBytes       *uint64 `json:"messageIdBytes,string,omitempty"`
		HintBytes            *uint64 `json:"hintBytes,string,omitempty"`
		RepairRequestEntries *uint64 `json:"repairRequestEntries,string,omitempty"`
		RepairAnswers        *uint64 `json:"repairAnswers,string,omitempty"`
		RepairRequests       *uint64 `json:"repairRequests,string,omitempty"`
		Channels             *uint64 `json:"channels,string,omitempty"`
		Participants         *uint64 `json:"participants,string,omitempty"`
	}
	Configuration struct {
		CausalHistorySize            *uint32  `json:"causalHistorySize,omitempty"`
		BloomCapacity                *uint32  `json:"bloomCapacity,omitempty"`
		BloomErrorRate               *float64 `json:"bloomErrorRate,omitempty"`
		ResendUnacknowledgedMs       *uint64  `json:"resendUnacknowledgedMs,string,omitempty"`
		ResendPossiblyAcknowledgedMs *uint64  `json:"resendPossiblyAcknowledgedMs,string,omitempty"`
		SyncIntervalMs               *uint64  `json:"syncIntervalMs,string,omitempty"`
		LostTimeoutMs                *uint64  `json:"lostTimeoutMs,string,omitempty"`
		IncomingSweepMs              *uint64  `json:"incomingSweepMs,string,omitempty"`
		PossibleAckThreshold         *uint32  `json:"possibleAckThreshold,omitempty"`
		SdsR                         *bool    `json:"sdsR,omitempty"`
		TMinMs                       *uint64  `json:"tMinMs,string,omitempty"`
		TMaxMs                       *uint64  `json:"tMaxMs,string,omitempty"`
		NumResponseGroups            *int32   `json:"numResponseGroups,omitempty"`
		NumParticipants              *uint32  `json:"numParticipants,omitempty"`
		MaxRepairRequests            *uint32  `json:"maxRepairRequests,omitempty"`
	}
	Open struct {
		NowMs         uint64        `json:"nowMs,string"`
		ParticipantID string        `json:"participantId"`
		Channels      []string      `json:"channels"`
		Configuration Configuration `json:"configuration"`
	}
	Opened struct {
		Handle        uint64        `json:"handle,string"`
		Configuration Configuration `json:"configuration"`
	}
	// To has the handle of the participant and the time.
	To struct {
		NowMs  uint64 `json:"nowMs,string"`
		Handle uint64 `json:"handle,string"`
	}
	Close struct{ To }
	Tick  struct{ To }
	Send  struct {
		To
		ChannelID     string  `json:"channelId"`
		Content       []byte  `json:"content"`
		MessageID     string  `json:"messageId"`
		RetrievalHint *[]byte `json:"retrievalHint"`
	}
	SendEphemeral struct {
		To
		ChannelID string `json:"channelId"`
		Content   []byte `json:"content"`
		MessageID string `json:"messageId"`
	}
	SendSync struct {
		To
		ChannelID string `json:"channelId"`
	}
	Receive struct {
		To
		Wire          []byte  `json:"wire"`
		RetrievalHint *[]byte `json:"retrievalHint"`
	}
	Effects struct {
		Broadcasts [][]byte `json:"broadcasts,omitempty"`
		Events     []Event  `json:"events,omitempty"`
		MessageID  string   `json:"messageId,omitempty"`
	}
	// Event has a channel, and exactly one of the other fields.
	Event struct {
		ChannelID            string     `json:"channelId"`
		Delivered            *Delivered `json:"delivered,omitempty"`
		Acknowledged         *Named     `json:"acknowledged,omitempty"`
		PossiblyAcknowledged *Named     `json:"possiblyAcknowledged,omitempty"`
		Missing              *Missing   `json:"missing,omitempty"`
		Lost                 *IDs       `json:"lost,omitempty"`
	}
	Delivered struct {
		MessageID string `json:"messageId"`
		Content   []byte `json:"content,omitempty"`
	}
	Named struct {
		MessageID string `json:"messageId"`
	}
	Missing struct {
		Entries []HistoryEntry `json:"entries"`
	}
	IDs struct {
		MessageIDs []string `json:"messageIds,omitempty"`
	}
	Observe struct {
		To
		ChannelID string   `json:"channelId"`
		FilterIDs []string `json:"filterIds"`
	}
	State struct {
		LamportTimestamp *uint64       `json:"lamportTimestamp,string,omitempty"`
		Log              *Log          `json:"log,omitempty"`
		Outgoing         *Outgoing     `json:"outgoing,omitempty"`
		Incoming         *IDs          `json:"incoming,omitempty"`
		FilterHits       []bool        `json:"filterHits,omitempty"`
		OutgoingRepairs  *RepairBuffer `json:"outgoingRepairs,omitempty"`
		IncomingRepairs  *RepairBuffer `json:"incomingRepairs,omitempty"`
	}
	Log struct {
		Entries []LogEntry `json:"entries,omitempty"`
	}
	LogEntry struct {
		MessageID        string `json:"messageId"`
		LamportTimestamp uint64 `json:"lamportTimestamp,string"`
	}
	Outgoing struct {
		Entries []OutgoingEntry `json:"entries,omitempty"`
	}
	OutgoingEntry struct {
		MessageID string `json:"messageId"`
		State     string `json:"state"` // For example ACK_STATE_UNACKNOWLEDGED.
	}
	RepairBuffer struct {
		Entries []RepairEntry `json:"entries,omitempty"`
	}
	RepairEntry struct {
		MessageID string `json:"messageId"`
		DueMs     uint64 `json:"dueMs,string"`
	}
	BuildFilter struct {
		MessageIDs []string `json:"messageIds"`
		Size
	}
	QueryFilter struct {
		BloomFilter []byte   `json:"bloomFilter"`
		MessageIDs  []string `json:"messageIds"`
		Size
	}
	// Size needs CAPABILITY_FILTER_SIZES.
	Size struct {
		BloomCapacity  *uint32  `json:"bloomCapacity"`
		BloomErrorRate *float64 `json:"bloomErrorRate"`
	}
	Filter struct {
		BloomFilter []byte `json:"bloomFilter,omitempty"`
	}
	Membership struct {
		Hits []bool `json:"hits,omitempty"`
	}
	Message struct {
		SenderID         string         `json:"senderId,omitempty"`
		MessageID        string         `json:"messageId,omitempty"`
		ChannelID        string         `json:"channelId,omitempty"`
		LamportTimestamp *uint64        `json:"lamportTimestamp,string,omitempty"`
		CausalHistory    []HistoryEntry `json:"causalHistory,omitempty"`
		BloomFilter      *[]byte        `json:"bloomFilter,omitempty"`
		RepairRequest    []HistoryEntry `json:"repairRequest,omitempty"`
		Content          *[]byte        `json:"content,omitempty"`
	}
	// HistoryEntry is an entry of CausalHistory, RepairRequest and Missing; in Missing, it has no sender.
	HistoryEntry struct {
		MessageID     string  `json:"messageId,omitempty"`
		RetrievalHint *[]byte `json:"retrievalHint,omitempty"`
		SenderID      *string `json:"senderId,omitempty"`
	}
	Encode struct {
		Message Message `json:"message"`
	}
	Encoded struct {
		Wire []byte `json:"wire,omitempty"`
	}
	Decode struct {
		Wire []byte `json:"wire"`
	}
	Decoded struct {
		Message Message `json:"message"`
		Kind    string  `json:"kind,omitempty"` // For example MESSAGE_KIND_SYNC.
	}
	RepairTimes struct {
		NowMs             uint64 `json:"nowMs,string"`
		ParticipantID     string `json:"participantId"`
		MessageID         string `json:"messageId"`
		SenderID          string `json:"senderId"`
		TMinMs            uint64 `json:"tMinMs,string"`
		TMaxMs            uint64 `json:"tMaxMs,string"`
		NumResponseGroups int32  `json:"numResponseGroups"`
	}
	RepairOffsets struct {
		TReqMs          *uint64 `json:"tReqMs,string,omitempty"`
		TRespMs         *uint64 `json:"tRespMs,string,omitempty"`
		InResponseGroup *bool   `json:"inResponseGroup,omitempty"`
	}
)

func (t To) handle() uint64 { return t.Handle }

// UnmarshalJSON ignores unknown settings: Open accepts them.
func (c *Configuration) UnmarshalJSON(text []byte) error {
	type known Configuration
	return json.Unmarshal(text, (*known)(c))
}

// need is a capability that a command needs only if asked is true.
type need struct {
	asked      bool
	capability string
}

func (in Open) needs() []need {
	return []need{{len(in.Channels) == 0, "UNNAMED_CHANNEL"}, {len(in.Channels) > 1, "CHANNELS"}}
}

func (in Send) needs() []need {
	return []need{{in.MessageID != "", "MESSAGE_ID"}, {in.RetrievalHint != nil, "RETRIEVAL_HINTS"}}
}

func (in SendEphemeral) needs() []need { return []need{{in.MessageID != "", "MESSAGE_ID"}} }

func (in Receive) needs() []need { return []need{{in.RetrievalHint != nil, "RETRIEVAL_HINTS"}} }

func (in Size) needs() []need {
	return []need{{in.BloomCapacity != nil || in.BloomErrorRate != nil, "FILTER_SIZES"}}
}
