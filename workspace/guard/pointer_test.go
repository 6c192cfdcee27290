//go:build unix

package guard

import "testing"

// hide puts an armed repository where nobody looks.
const hide = `git init -q .; mkdir .git/lfs sub; git init -q --bare .git/lfs/x; `

const armHidden = armIt + `.git/lfs/x/config; `

// module makes a repository where a submodule's would be, whose work tree is $1.
const module = `git init -q .; mkdir -p .git/modules lib; git init -q --bare .git/modules/lib; git -C .git/modules/lib config core.bare false; echo gitdir: ../.git/modules/lib >lib/.git; git -C .git/modules/lib config core.worktree `

func TestPointers(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"link to a pointer": {hide + armHidden + "echo gitdir: ../.git/lfs/x >sub/g; ln -s g sub/.git", []string{"disarmed sub/.git"}},
		"NUL":               {hide + armHidden + `printf 'gitdir: ../.git/lfs/x\0junk\n' >sub/.git`, []string{"disarmed sub/.git"}},
		"NUL, outside":      {hide + `printf "gitdir: $ROOT/../up\0/../ws/.git/lfs/x\n" >sub/.git`, []string{"disarmed sub/.git"}},
		"newlines":          {hide + armHidden + `{ printf 'gitdir: ../.git/lfs/x'; head -c 300000 /dev/zero | tr '\0' '\n'; } >sub/.git`, []string{"disarmed sub/.git"}},
		"through a link":    {hide + `ln -s .git/lfs/x l; echo gitdir: ../l >sub/.git`, []string{"disarmed sub/.git"}},
		"not yet":           {hide + `rm .git/lfs/x/HEAD; echo gitdir: ../.git/lfs/x >sub/.git`, []string{"disarmed sub/.git"}},
		"hidden, harmless":  {hide + `echo gitdir: ../.git/lfs/x >sub/.git`, nil},
		"a worktree's own": {`git init -q .; mkdir -p sub .git/worktrees; git init -q --bare y; mv y .git/worktrees; echo gitdir: ../.git/worktrees/y >sub/.git; echo $ROOT/sub/.git >.git/worktrees/y/gitdir; ` + armIt + `.git/worktrees/y/config`,
			[]string{"disarmed .git/worktrees/y/config"}},
		"back, NUL": {`git init -q .; mkdir -p ../far .git/worktrees/y; printf "$ROOT/../far\0/../../ws/.git" >.git/worktrees/y/gitdir`, []string{"disarmed .git/worktrees/y/gitdir"}},
		"back, through a link": {`git init -q .; mkdir -p ../far/x .git/worktrees/y; ln -s ../far/x l; echo "$ROOT/l/../.git" >.git/worktrees/y/gitdir`,
			[]string{"disarmed .git/worktrees/y/gitdir"}},
		"modules that looks like one": {`git init -q .; mkdir -p .git/modules/objects .git/modules/refs sub sub2; echo ref: refs/heads/x >.git/modules/HEAD; ` +
			`for n in lfs objects/ab; do git init -q --bare .git/modules/$n; git -C .git/modules/$n config core.bare false; done; ` +
			`git -C .git/modules/lfs config core.worktree ../../../sub; echo gitdir: ../.git/modules/lfs >sub/.git; git -C .git/modules/objects/ab config core.worktree ../../../../sub2; echo gitdir: ../.git/modules/objects/ab >sub2/.git; ` +
			armIt + `.git/modules/lfs/config; ` + armIt + `.git/modules/objects/ab/config`,
			[]string{"disarmed .git/modules/lfs/config", "disarmed .git/modules/objects/ab/config"}},
		"own work tree":           {module + "../../../lib", nil},
		"own work tree, gone":     {module + "../../../lib; rm -r lib", nil},
		"work tree a git dir":     {module + "../..", []string{"disarmed .git/modules/lib/config"}},
		"work tree in a git dir":  {module + "../../refs; echo gitdir: ../modules/lib >.git/refs/.git", []string{"disarmed .git/modules/lib/config", "disarmed .git/refs/.git"}},
		"work tree obeyed":        {module + "../../../.vscode", []string{"disarmed .git/modules/lib/config"}},
		"work tree behind a link": {module + `../../../lib; rm -r lib; ln -s .git lib; echo gitdir: modules/lib >.git/.git`, []string{"disarmed .git/.git", "disarmed .git/modules/lib/config"}},
		"work tree by a link":     {module + "../../../l/../new; ln -s .git/refs l", []string{"disarmed .git/modules/lib/config"}},
		"work tree of no module":  {module + "../../../new", []string{"disarmed lib/.git"}},
		"work tree without .git":  {module + "../../../src; mkdir src", []string{"disarmed .git/modules/lib/config"}},
		"work tree per worktree":  {module + "../../../lib; cd .git/modules/lib; git config extensions.worktreeConfig true; git config --worktree core.worktree ../../hooks2", []string{"disarmed .git/modules/lib/config.worktree"}},
		"work tree is the root's": {module + "../../..", []string{"disarmed .git/modules/lib/config"}},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, p *place, o Options) {
				w := p.guard(o, BeginOptions{})
				p.sh("umask 022\n" + c.script)
				p.want(p.end(w), c.want...)
				p.canary(".", "sub", "sub2", "lib")
			})
		})
	}
}

func TestOtherControls(t *testing.T) {
	for name, c := range map[string]struct {
		before, script string
		want           []string
	}{
		"git below Mercurial":    {"", "mkdir -p docs/.hg; git init -q docs/.hg/sm; " + armIt + "docs/.hg/sm/.git/config", []string{"disarmed docs/.hg/sm/.git/config"}},
		"git below one that was": {"mkdir -p .hg/store", "git init -q .hg/store/sm; " + armIt + ".hg/store/sm/.git/config", []string{"disarmed .hg/store/sm/.git/config"}},
		"another below another":  {"", "mkdir -p a/_darcs/x/.hg; echo '[hooks]' >a/_darcs/x/.hg/hgrc", []string{"disarmed a/_darcs/x/.hg/hgrc"}},
		"nothing obeyed below":   {"", "mkdir -p a/.hg/store/.vscode; echo 1 >a/.hg/store/.envrc", nil},
		"Jujutsu's git":          {"mkdir -p .jj/repo/store; git init -q --bare .jj/repo/store/git", armIt + ".jj/repo/store/git/config; echo evil >.jj/repo/store/git/hooks/x", []string{"disarmed .jj/repo/store/git/config", "disarmed .jj/repo/store/git/hooks/x"}},
		"Jujutsu's new git":      {"", "mkdir -p a/.jj/repo/store; printf git >a/.jj/repo/store/git_target; git init -q --bare a/.jj/repo/store/git; " + armIt + "a/.jj/repo/store/git/config", []string{"disarmed a/.jj/repo/store/git/config"}},
		"Jujutsu, benign":        {"", "mkdir -p .jj/repo/store a/.jj; printf git >.jj/repo/store/git_target; git init -q --bare .jj/repo/store/git; printf ../../.jj/repo >a/.jj/repo", nil},
		"Jujutsu beside git":     {"git init -q .", "mkdir -p .jj/repo/store; printf ../../../.git >.jj/repo/store/git_target", nil},
		"Jujutsu, elsewhere":     {"", "mkdir -p a/.jj x; echo evil >x/config.toml; printf ../../x >a/.jj/repo", []string{"disarmed a/.jj/repo"}},
		"Jujutsu, linked":        {"", "mkdir -p a/.jj x b/.jj/repo/store c/.jj/repo; echo evil >x/config.toml; ln -s ../../x a/.jj/repo; ln -s ../../../../x b/.jj/repo/store/git; ln -s x c/.jj/repo/store", []string{"disarmed a/.jj/repo", "disarmed b/.jj/repo/store/git", "disarmed c/.jj/repo/store"}},
		"Jujutsu, other git":     {"", "mkdir -p a/.jj/repo/store; printf ../../../../.git/lfs/x >a/.jj/repo/store/git_target", []string{"disarmed a/.jj/repo/store/git_target"}},
		"darcs, linked":          {"", "mkdir -p a/_darcs x; echo evil >x/defaults; ln -s ../../x a/_darcs/prefs", []string{"disarmed a/_darcs/prefs"}},
		"a link as a whole":      {"", "mkdir -p a x; echo '[hooks]' >x/hgrc; ln -s ../x a/.hg", []string{"disarmed a/.hg"}},
		"a person's, untouched":  {"mkdir -p a/.jj/repo b/.hg; echo x >a/.jj/workspace-config.toml; echo '[hooks]' >b/.hg/hgrc", "touch a/x b/.hg/y", nil},
		"a person's, changed":    {"mkdir -p b/.hg; echo '[hooks]' >b/.hg/hgrc", "echo evil >>b/.hg/hgrc", []string{"disarmed b/.hg/hgrc"}},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, p *place, o Options) {
				p.sh("umask 022\n" + c.before)
				w := p.guard(o, BeginOptions{})
				p.sh("umask 022\n" + c.script)
				p.want(p.end(w), c.want...)
				if name == "a person's, changed" {
					p.sh(`test "$(cat b/.hg/hgrc)" = '[hooks]' && test "$(ls b/.hg | wc -l)" = 2`)
				}
			})
		})
	}
}

// What an earlier run began as a submodule is no git directory, whose data nobody need look into.
func TestSubmodulesInWhatIsNone(t *testing.T) {
	both(t, func(t *testing.T, p *place, o Options) {
		p.sh("git init -q .; mkdir -p .git/modules/a/objects .git/modules/a/refs; echo x >.git/modules/a/HEAD")
		o.GitDirs = []string{p.root + "/.git", p.root + "/.git/modules/a"}
		w := p.guard(o, BeginOptions{})
		p.sh("git init -q --bare .git/modules/a/lfs; " + armIt + ".git/modules/a/lfs/config")
		p.want(p.end(w), "disarmed .git/modules/a/lfs/config")
	})
}
