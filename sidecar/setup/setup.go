// Package setup puts sidecar's entry into the settings of MCP clients, and takes it out again: of a settings file's
// text only the entry changes, comments and formatting stay as they are.
//
//	c, _ := setup.Named("zed")
//	path := c.Path(setup.User, machine, "")
//	f, err := setup.Open(path)
//	change, err := c.Add(f.Text, setup.Command{Program: "sidecar", Args: []string{"mcp"}}, false)
//	err = f.Replace(change.Text)
//
// Every change is verified: the text is parsed before and after, and what is not the entry has to be the same. What
// cannot be changed like that (a broken file, an entry that is written in an unusual way) is left as it is, with an
// error that says where.
//
// It does not ask clients to do it (claude mcp add, codex mcp add, gemini mcp add, code --add-mcp): those need the
// client on PATH, each treats an entry that is there in its own way, and two of the four cannot take one out.
package setup

import (
	"errors"
	"fmt"
	"strings"
)

// Name is what the entry is called in every client.
const Name = "sidecar"

// State is what a settings file has of sidecar.
type State string

// The states.
const (
	// Absent is a file without an entry, or no file.
	Absent State = "absent"
	// There is an entry that starts the wanted command.
	There State = "there"
	// Off is such an entry that the person has switched off.
	Off State = "off"
	// Other is an entry of the name that starts something else.
	Other State = "other"
)

// Change is what is to become of a settings file.
type Change struct {
	// State is what the file had before.
	State State
	// Text is the whole new text; that of before where nothing is to change.
	Text []byte
	// Changed says that the two differ.
	Changed bool
}

// ErrOther says that an entry of the name starts something else, so that it is not replaced without being told to.
var ErrOther = errors.New("another entry of that name is there")

// syntax is a language of settings.
type syntax struct {
	// read parses a text into maps, for comparing.
	read func(text []byte) (map[string]any, error)
	// put writes an entry, in the place of one that is there.
	put func(text []byte, path []string, e entry) ([]byte, error)
	// drop takes an entry out.
	drop func(text []byte, path []string) ([]byte, error)
	// render is the entry alone, as a whole file.
	render func(path []string, e entry) string
}

// State says what a text has.
func (c Client) State(text []byte, want Command) (State, error) {
	all, err := c.syntax.read(text)
	if err != nil {
		return "", err
	}
	return state(at(all, c.path()), c.entry(want), want), nil
}

// Starts says whether a text has an entry that starts sidecar, from wherever and with whatever arguments beside "mcp".
func (c Client) Starts(text []byte) (State, error) {
	all, err := c.syntax.read(text)
	if err != nil {
		return "", err
	}
	return starts(at(all, c.path())), nil
}

// Add is the text with the entry. An entry that starts something else stays (ErrOther), unless force is set.
func (c Client) Add(text []byte, want Command, force bool) (Change, error) {
	before, err := c.State(text, want)
	switch {
	case err != nil:
		return Change{}, err
	case before == There, before == Off && !force:
		return Change{State: before, Text: text}, nil
	case before == Other && !force:
		return Change{State: before, Text: text}, ErrOther
	}
	after, err := c.syntax.put(text, c.path(), c.entry(want))
	if err != nil {
		return Change{}, err
	}
	return c.verified(before, text, after, want, There)
}

// Remove is the text without the entry, whatever it starts.
func (c Client) Remove(text []byte, want Command) (Change, error) {
	before, err := c.State(text, want)
	if err != nil || before == Absent {
		return Change{State: before, Text: text}, err
	}
	after, err := c.syntax.drop(text, c.path())
	if err != nil {
		return Change{}, err
	}
	return c.verified(before, text, after, want, Absent)
}

// Render is what a file with nothing but the entry holds.
func (c Client) Render(want Command) string { return c.syntax.render(c.path(), c.entry(want)) }

func (c Client) path() []string { return []string{c.key, Name} }

// verified is a change that leaves all but the entry as it was.
func (c Client) verified(before State, text, after []byte, want Command, wanted State) (Change, error) {
	old, err := c.syntax.read(text)
	if err != nil {
		return Change{}, err
	}
	changed, err := c.syntax.read(after)
	if err != nil {
		return Change{}, c.unusual(fmt.Errorf("changed, it could not be read: %w", err))
	}
	if state(at(changed, c.path()), c.entry(want), want) != wanted || !sameBut(old, changed, c.path()) {
		return Change{}, c.unusual(errors.New("changed, it would say something else"))
	}
	return Change{State: before, Text: after, Changed: true}, nil
}

func (c Client) unusual(err error) error {
	return fmt.Errorf("%s is written in a way that sidecar cannot change: %w", strings.Join(c.path(), "."), err)
}
