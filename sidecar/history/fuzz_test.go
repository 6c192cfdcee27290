package history

import (
	"testing"
)

// What is packed comes out as it was, and whatever bytes a damaged database has, a text is read or an error told.
func FuzzPacked(f *testing.F) {
	for _, s := range []string{"", "a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "\x00\xff", "é\n", `{"a": [1, 2]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		value, err := packed(text).Value()
		if err != nil {
			t.Fatal(err)
		}
		var back packed
		if err := back.Scan(value); err != nil || string(back) != string(text) {
			t.Errorf("%q came back as %q, %v", text, back, err)
		}
		if err := back.Scan(text); err == nil && len(back) > maxUnpacked {
			t.Errorf("%d bytes of %q", len(back), text)
		}
	})
}
