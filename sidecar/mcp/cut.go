package mcp

import (
	"fmt"
	"unicode/utf8"

	"code.sidecar.dev/sidecar/protocol"
)

// budget is how large each form of a result may be, as JSON: Codex, for one, cuts at 12 KB, in the middle.
const budget = 10_000

// leastOutput is what output gets when notes and findings take up the budget.
const leastOutput = 2_000

// fit puts the texts of the two outputs in, cut so that both together take up no more than room.
func fit(stdout, stderr *outputShown, first, second protocol.Output, room int) {
	room = max(room, leastOutput)
	a, b := shares(textCost(first.Text), textCost(second.Text), room)
	stdout.Output, stderr.Output = cutOutput(first, a, stdout.whole()), cutOutput(second, b, stderr.whole())
}

// shares divides room between two that want a and b: each gets half, and what the other leaves.
func shares(a, b, room int) (int, int) {
	half := room / 2
	switch {
	case a+b <= room:
		return a, b
	case a <= half:
		return a, room - a
	case b <= half:
		return room - b, b
	}
	return half, room - half
}

// cutOutput keeps the head and the tail of an output, and says where the whole is.
func cutOutput(o protocol.Output, room int, whole string) protocol.Output {
	if textCost(o.Text) <= room {
		return o
	}
	where := suffix("; ", protocol.Text([]byte(whole))) // a file may have any name
	const markRoom = 60
	head, tail := ends(o.Text, max(0, room-markRoom-textCost(where)))
	left := max(o.Bytes, int64(len(o.Text))) - int64(len(head)+len(tail))
	o.Text = head + fmt.Sprintf("\n[… %d bytes left out%s …]\n", left, where) + tail
	o.Truncated = true
	return o
}

// cutText keeps the head and the tail of a text.
func cutText(text string, room int, mark string) string {
	if textCost(text) <= room {
		return text
	}
	head, tail := ends(text, room-len(mark))
	return head + mark + tail
}

// ends are a head and a tail that cost no more than room together; the tail gets the larger part, since programs
// say last what went wrong.
func ends(text string, room int) (head, tail string) {
	forHead := room * 2 / 5
	n := 0
	for cost := 0; n < len(text); {
		r, size := utf8.DecodeRuneInString(text[n:])
		if cost += runeCost(r, size); cost > forHead {
			break
		}
		n += size
	}
	m := len(text)
	for cost := 0; m > n; {
		r, size := utf8.DecodeLastRuneInString(text[:m])
		if cost += runeCost(r, size); cost > room-forHead {
			break
		}
		m -= size
	}
	return text[:n], text[m:]
}

// textCost is the size of a text as JSON, without the quotes.
func textCost(text string) int {
	cost := 0
	for _, r := range text {
		cost += runeCost(r, utf8.RuneLen(r))
	}
	return cost
}

func runeCost(r rune, size int) int {
	switch {
	case r == '\n', r == '\t', r == '\r', r == '"', r == '\\', r == '\b', r == '\f':
		return 2
	case r < ' ', r == '\u2028', r == '\u2029':
		return 6
	}
	return size
}

// costOf is the size of a value as JSON.
func costOf(value any) int {
	line, err := encode(value)
	if err != nil {
		return 0
	}
	return len(line)
}
