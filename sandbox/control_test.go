package sandbox

import (
	"bytes"
	"os"
	"testing"
	"time"
)

// tardy is a connection whose first write comes after its deadline, as a goroutine's does that waited for a processor.
type tardy struct {
	bytes.Buffer
	writes int
}

func (t *tardy) SetWriteDeadline(time.Time) error { return nil }

func (t *tardy) Close() error { return nil }

func (t *tardy) Write(b []byte) (int, error) {
	if t.writes++; t.writes == 1 {
		return 0, os.ErrDeadlineExceeded
	}
	return t.Buffer.Write(b)
}

// An order whose write was not even tried in time is written all the same: without the first a run would never begin.
func TestAnOrderThatIsLateIsNotLost(t *testing.T) {
	to := new(tardy)
	c := Control{to: to}
	c.Signal(15)
	if to.Len() == 0 || to.writes != 2 {
		t.Errorf("%d writes, %d bytes", to.writes, to.Len())
	}
}
