package guard

// Action is what was done about a finding.
type Action string

// What can be done about a finding.
const (
	// Disarmed: moved aside or removed, so that host programs no longer obey it.
	Disarmed Action = "disarmed"
	// Noticed: left as it is; a person should know.
	Noticed Action = "noticed"
	// Failed: should have been disarmed and could not be; Error says why.
	Failed Action = "failed"
)

// Finding is something that a run made or changed and that a host program would later execute or obey.
type Finding struct {
	// Path is absolute.
	Path string
	// Reason says which host program would obey it and how.
	Reason string
	Action Action
	// MovedTo is where a disarmed file is now, absolute; "" when it was removed, as it held nothing.
	MovedTo string
	Error   string
}
