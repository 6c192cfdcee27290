//go:build unix

package hold

import "strings"

// needs are the placeholders of other living runs.
type needs []held

// shares says that a living run holds the very same placeholder.
func (n needs) shares(h held) bool {
	for _, x := range n {
		if x.Path == h.Path && x.Folder == h.Folder && x.Content == h.Content {
			return true
		}
	}
	return false
}

// wants says that a living run still needs path, as its placeholder or as a folder above one.
func (n needs) wants(path string) bool {
	for _, x := range n {
		if x.Path == path || strings.HasPrefix(x.Path, path+"/") {
			return true
		}
	}
	return false
}

// inherited are the folders above path that living runs made: whoever leaves last takes them away.
func (n needs) inherited(path string) []string {
	var above []string
	for _, x := range n {
		for _, p := range x.Parents {
			above = appendAbove(above, p, path)
		}
		if x.Folder {
			above = appendAbove(above, x.Path, path)
		}
	}
	return above
}

// appendAbove adds dir when it lies above path, in order of depth, once.
func appendAbove(list []string, dir, path string) []string {
	if !strings.HasPrefix(path, dir+"/") || contains(list, dir) {
		return list
	}
	i := len(list)
	for i > 0 && len(list[i-1]) > len(dir) {
		i--
	}
	list = append(list, "")
	copy(list[i+1:], list[i:])
	list[i] = dir
	return list
}
