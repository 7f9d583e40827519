// A minimal implementation that shows its clock: a participant can be opened, and its messages contain the time. A
// program in Go gets the time from the kernel, without the C library: a preloaded library cannot change that.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

type command struct {
	Content []byte `json:"content"`
}

type request struct {
	ID    string   `json:"id"`
	Hello *command `json:"hello"`
	Open  *command `json:"open"`
	Send  *command `json:"send"`
}

// A message with a sender, an ID, a channel, a Lamport timestamp and content, in protobuf.
func message(number int, content []byte) []byte {
	var wire []byte
	for field, text := range []string{"clock", fmt.Sprintf("m%d", number), "c1"} {
		wire = append(wire, byte(field+1)<<3|2, byte(len(text)))
		wire = append(wire, text...)
	}
	wire = append(wire, 10<<3)
	wire = binary.AppendUvarint(wire, uint64(time.Now().UnixMilli()))
	wire = append(wire, 0xa2, 1) // field 20, with a length
	wire = binary.AppendUvarint(wire, uint64(len(content)))
	return append(wire, content...)
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for number := 1; lines.Scan(); number++ {
		var asked request
		json.Unmarshal(lines.Bytes(), &asked)
		answer := `"unsupported":{"what":"all else"}`
		switch {
		case asked.Hello != nil:
			answer = `"hello":{"protocolVersion":1,"name":"system-clock-go","revisions":["sds-2026-01"]}`
		case asked.Open != nil:
			answer = fmt.Sprintf(`"opened":{"handle":"%d"}`, number)
		case asked.Send != nil:
			wire := base64.StdEncoding.EncodeToString(message(number, asked.Send.Content))
			answer = fmt.Sprintf(`"effects":{"broadcasts":["%s"],"messageId":"m%d"}`, wire, number)
		}
		fmt.Printf("{\"id\":\"%s\",%s}\n", asked.ID, answer)
	}
}
