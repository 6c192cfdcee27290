package declared

// Find looks one path up that is a file or a folder, whichever it is. The error is a *protocol.Error.
func Find(p Path, h Host) (Mount, error) {
	mounts, err := Resolve([]Path{p}, h)
	if err != nil {
		p.Folder = true
		var other error
		if mounts, other = Resolve([]Path{p}, h); other != nil {
			return Mount{}, err
		}
	}
	return mounts[0], nil
}

// Covers says whether mounts show what another one would, with its rights.
func Covers(mounts []Mount, m Mount) bool {
	outer := around(m.Target, mounts)
	return outer != nil && (outer.Write || !m.Write) && outer.Source+m.Target[len(outer.Target):] == m.Source
}

// Arrange sorts mounts of several lists, outer ones first, as Resolve does.
func Arrange(mounts []Mount) []Mount { return arranged(mounts) }
