package config

import "reflect"

// Same says whether two settings are the same, wherever they come from.
func (s Settings) Same(other Settings) bool {
	s.from, other.from = nil, nil
	return reflect.DeepEqual(s, other)
}
