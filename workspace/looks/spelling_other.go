//go:build unix && !darwin

package looks

// spelled is for systems whose names are spelled in more than one way.
func spelled(path string) string { return path }
