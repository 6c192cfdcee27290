package env

// Text lists an environment for people.
func Text(e Environment) string { return e.ID }
