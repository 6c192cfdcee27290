package gitconfig

import "strings"

var escapes = strings.NewReplacer("\\", `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`, "\x00", "")

// Quote writes a value so that git reads it back as it is; a NUL, which no value can hold, is dropped.
func Quote(value string) string { return `"` + escapes.Replace(value) + `"` }

// Text writes settings as a config file: pairs of a key and its value. A key has no subsection
// ("user.name"), or one without a line's end.
func Text(settings [][2]string) string {
	var b strings.Builder
	section := ""
	for _, s := range settings {
		e := Entry{Key: s[0]}
		if header := e.header(); header != section {
			section = header
			b.WriteString(header + "\n")
		}
		b.WriteString("\t" + e.Name() + " = " + Quote(s[1]) + "\n")
	}
	return b.String()
}

func (e Entry) header() string {
	sub := e.Subsection()
	if sub == "" {
		return "[" + e.Section() + "]"
	}
	return "[" + e.Section() + ` "` + strings.NewReplacer("\\", `\\`, `"`, `\"`).Replace(sub) + `"]`
}
