package client

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"code.sidecar.dev/sidecar/protocol"
)

// checkText refuses what a request cannot carry: JSON is Unicode (RFC 8259, section 8.1), and encoding/json sends other bytes as
// U+FFFD. The program would run with another name, or another text, than was asked for.
func checkText(req protocol.RunRequest) error {
	if !utf8.ValidString(req.Code) {
		return notText("the code is not UTF-8", "have the interpreter read the file: sidecar run -- PROGRAM FILE")
	}
	const hint = "have a script say it, which may have any bytes: sidecar run -- bash FILE"
	for _, word := range slices.Concat(req.Command, req.Args, req.Files, req.WritableFiles, []string{req.Cwd}) {
		if !utf8.ValidString(word) {
			return notText(fmt.Sprintf("%+q is not UTF-8", word), hint)
		}
	}
	for name, value := range req.Env {
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return notText(fmt.Sprintf("the variable %+q is not UTF-8", name), hint)
		}
	}
	return nil
}

func notText(message, hint string) error {
	return &protocol.Error{Kind: protocol.BadRequest, Message: message, Hint: hint}
}
