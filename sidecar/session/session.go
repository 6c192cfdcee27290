// Package session is how the sidecar speaks with an interpreter that it keeps between calls: the drivers, which are
// programs in the interpreters' own languages that wait for code, and the folder in which both sides meet.
//
//	d, _ := session.For("python")
//	f, err := session.Make(dir) // shown to the sandbox at session.Place, read-only
//	… the sandbox starts with d.Code …
//	err = f.Ready(ctx)
//	call, err := f.Call(d, session.Request{Code: "x = 1"}, outputs)
//	status, err := call.Wait()
//
// A call prints into a pair of named pipes in that folder. What it leaves behind (threads, timers, programs in the background)
// keeps writing into those, and the next call is given others; only a pair that nobody has open any more is used again. So
// what is late is never taken for the next call's, unless it opens the pipes by name, which harms its own session only. What a driver answers carries a word that only this call was told.
//
// The code of a call can do with its interpreter what it likes, the driver included. It can forge answers for itself,
// which harms its own session only: this side reads lines of bounded length, bounded output, and its own descriptors;
// it opens nothing that the sandbox has made.
package session

import (
	_ "embed" // for the drivers
	"slices"
	"strings"
)

// Place is where the sandbox has the folder of calls.
const Place = "/run/sidecar/calls"

// Driver is a program that keeps an interpreter.
type Driver struct {
	Language string
	// Code is its text; it is the run's code.
	Code string
	// suffix is of the files with the calls' code.
	suffix string
	// words gives a call to it: what is written to its pipe of requests, and files that it finds by the call's number.
	words func(number, Request) (line []byte, files map[string][]byte, err error)
}

var (
	//go:embed driver.py
	pythonDriver string
	//go:embed driver.cjs
	nodeDriver string
	//go:embed driver.sh
	bashDriver string
	//go:embed driver.rb
	rubyDriver string
	//go:embed driver.pl
	perlDriver string
)

var drivers = []Driver{
	{Language: "python", Code: pythonDriver, suffix: ".py", words: object},
	{Language: "node", Code: nodeDriver, suffix: ".js", words: object},
	{Language: "bash", Code: bashDriver, suffix: ".sh", words: script},
	{Language: "ruby", Code: rubyDriver, suffix: ".rb", words: fields},
	{Language: "perl", Code: perlDriver, suffix: ".pl", words: fields},
}

// For is the driver for a language, by its name in the table of languages.
func For(language string) (Driver, bool) {
	i := slices.IndexFunc(drivers, func(d Driver) bool { return d.Language == language })
	if i < 0 {
		return Driver{}, false
	}
	return drivers[i], true
}

// Languages are the languages that can be kept, for people.
func Languages() string {
	var names []string
	for _, d := range drivers {
		names = append(names, d.Language)
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
