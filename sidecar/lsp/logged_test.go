package lsp_test

import (
	"strings"
	"testing"
)

// What sidecars log comes to the editor at the level that it asks for, and never with code or output.
func TestTheLogInTheEditor(t *testing.T) {
	dir := project(t)
	const run = `{"language":"bash","code":"echo SECRET; exit 3"}`
	loud := greeted(t, "in process", `,"initializationOptions":{"protocol":1,"log":"debug"}`, dir)
	quiet := greeted(t, "in process", plugin, dir)
	loud.ask("sidecar/run", run)
	loud.hears("window/logMessage", "run ended ")
	m := loud.hears("window/logMessage", "the run starts its own sandbox")
	if got := string(m.Params); !strings.Contains(got, `"type":4`) || !strings.Contains(got, `"message":"ein Prüfling: `) {
		t.Errorf("got %s", got)
	}
	quiet.ask("sidecar/run", run)
	for name, f := range map[string]*fake{"loud": loud, "quiet": quiet} {
		f.mu.Lock()
		for _, m := range f.all {
			if m.Method == "sidecar/log" || m.Method == "window/logMessage" && (name == "quiet" || strings.Contains(string(m.Params), "SECRET")) {
				t.Errorf("%s hears %s %s", name, m.Method, m.Params)
			}
		}
		f.mu.Unlock()
	}
}

func TestAnUnknownLevel(t *testing.T) {
	f := start(t, "in process", project(t))
	if m := f.ask("initialize", `{"processId":null,"rootUri":null,"capabilities":{},"initializationOptions":{"log":"loud"}}`); m.Error == nil || !strings.Contains(m.Error.Message, `log is "loud"`) {
		t.Errorf("got %+v", m.Error)
	}
}
