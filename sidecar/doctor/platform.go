package doctor

import "strings"

// wsl is the generation of the Windows Subsystem for Linux; 0 is none.
func wsl(m Machine) int {
	kernel := m.Kernel + " " + m.Banner
	if !strings.Contains(strings.ToLower(kernel), "microsoft") {
		return 0
	}
	// WSL 1 imitates Linux 4.4 and spells "Microsoft"; WSL 2 is a real kernel, "…-microsoft-standard-WSL2".
	if strings.Contains(kernel, "WSL2") || strings.Contains(kernel, "microsoft-standard") {
		return 2
	}
	return 1
}

// gVisor gives itself away by its kernel's name, or by a date that it never changed.
func gVisor(m Machine) bool {
	return strings.Contains(strings.ToLower(m.Kernel), "gvisor") ||
		strings.Contains(m.Banner, "Sun Jan 10 15:06:54 PST 2016")
}
