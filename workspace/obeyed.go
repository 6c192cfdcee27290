package workspace

import (
	"path"
	"path/filepath"
	"strings"

	"code.sidecar.dev/workspace/companions"
)

// Entry is a file or folder that programs on the host execute or obey because of its name and place.
type Entry struct {
	// Name is a base name ("*" and "?" as in path.Match), or a path of a few parts, like ".config/mise".
	Name string
	// Folder says that it is a folder; all in it counts.
	Folder bool
	// Anywhere says that it is obeyed in subfolders too, not only at a project's top. A path is then of two parts.
	Anywhere bool
	// Reason says which program obeys it and how, for people.
	Reason string
}

// Reasons that many entries share.
const (
	whyEditor   = "editors start tasks, debuggers and language servers that it names"
	whyVim      = "Vim and Neovim execute it (exrc, or a plugin that loads local settings)"
	whyAgent    = "an agent client starts hooks and servers that it names, or takes permissions from it"
	whyShell    = "a shell executes it when it enters the folder"
	whyHook     = "the git hooks on the host execute what it names"
	whyREPL     = "an interpreter executes it when it starts in the folder"
	whyDebugger = "a debugger executes it when it starts in the folder"
	whyPackages = "the package manager takes programs, registries and scripts from it"
	whyLSP      = "a language server that the editor starts executes what it names"
	whyBuild    = "the build tool, which editors start, takes programs and options from it"
	whyVersion  = "a version manager executes what lies in a folder that it names as the version"
	whyWorktree = "a tool that makes worktrees for agents executes the commands that it names"
	whyDotnet   = "the .NET SDK, which editors start, takes SDKs and options from it"
	whyCtags    = "ctags, which editors start, takes its options from it, among them files that it writes"
	whyLinter   = "the linter, which editors start, loads files of the tree that it names"
	whyProgram  = "the formatter or linter, which editors start, executes programs that it names"
	whySidecar  = "it is sidecar's own: a run must not change what the next one may do"
)

// obeyed is the table. What is deliberately not in it:
//   - instructions for models (CLAUDE.md, AGENTS.md, GEMINI.md, .cursorrules, .windsurfrules, .goosehints): text that
//     a person reads in a diff like source, and that agents are asked to edit; what a model then does is what
//     its client permits.
//   - source and build descriptions (package.json, Makefile, justfile, build.gradle, build.rs, setup.py,
//     conftest.py, flake.nix and shell.nix without an .envrc that uses them, eslint.config.js and other configs of
//     linters that are programs; Directory.Build.props, nx.json, deno.json, buf.yaml, pyproject.toml, setup.cfg, tox.ini,
//     gradle.properties, CMakePresets.json, platformio.ini): writing them is the work, and the host executes them when a
//     person builds, or an editor that the person has trust the project does.
//   - style (.prettierrc, .stylelintrc, .eslintrc, cspell.json, biome.json, analysis_options.yaml, which "dart create" makes,
//     .golangci.yml): written every day, and where it may name plugins, package.json, pubspec.yaml or a build of one's own has
//     to, too.
//   - workflows of CI services (.github/workflows, .gitlab-ci.yml): executed elsewhere, after a push.
//   - what builds produce and hosts may execute (node_modules/.bin, .venv, target): runs must write it.
//   - version files that choose among what is installed (.python-version, which "uv init" makes, .nvmrc, .node-version, .ruby-version,
//     .go-version, .swift-version); jenv, SDKMAN and tfenv take a path for a version, so that theirs are in it.
//   - data (.editorconfig, .env, .gitattributes, .lfsconfig, compile_commands.json): read, not executed. An .env
//     that .envrc loads is protected through it.
//   - .cursorignore, .gitignore and their like; .kakrc, .screenrc, .tmux.conf: not read from a project.
//   - a bare mcp.json: no known client reads one at a project's top.
//   - .bundle/config and .rspec: Bundler and RSpec execute the Gemfile and the specs beside them, which are source.
var obeyed = []Entry{
	// Editors.
	{".vscode", true, true, whyEditor},
	{"*.code-workspace", false, true, whyEditor},
	{".idea", true, true, whyEditor},
	{"*.ipr", false, true, whyEditor},
	{"*.iws", false, true, whyEditor},
	{".run", true, false, whyEditor},
	{".fleet", true, true, whyEditor},
	{".zed", true, true, whyEditor},
	{".vs", true, true, whyEditor},
	{".theia", true, true, whyEditor},
	{".nova", true, false, whyEditor},
	{".lapce", true, false, whyEditor},
	{".helix", true, true, whyEditor},
	{".kateproject", false, true, whyEditor},
	{"*.sublime-project", false, true, whyEditor},
	{".joyride", true, true, "VS Code's Joyride executes the scripts in it"},
	{".obsidian", true, true, "Obsidian loads the plugins in it"},
	{".trunk", true, true, "Trunk, which editors start, executes linters and actions that it names"},
	{".settings", true, true, "Eclipse and its Java language server take annotation processors and builders from it"},
	{".project", false, true, "Eclipse and its Java language server take builders from it"},
	{".factorypath", false, true, "Eclipse and its Java language server execute annotation processors that it names"},
	{".externalToolBuilders", true, true, "Eclipse executes the builders in it"},
	{".cproject", false, true, "Eclipse executes the compilers and builders that it names"},
	{"*proj.user", false, true, "Visual Studio's builds load it, and its debugger starts programs that it names"},
	{"*.pro.user", false, true, whyEditor},
	{"*.txt.user", false, true, whyEditor},
	{"*.creator.user", false, true, whyEditor},
	{".qtcreator", true, true, whyEditor},
	{".kdev4", true, true, whyEditor},
	{"*.kdev4", false, true, whyEditor},
	{"*.geany", false, true, whyEditor},
	{".buildconfig", false, true, whyEditor},
	{"*.bazelproject", false, true, whyEditor},
	{"nbactions.xml", false, true, whyEditor},
	{".tm_properties", false, true, "TextMate takes the PATH and variables of its commands from it"},
	{".calva/config.edn", false, true, "VS Code's Calva evaluates what it names"},
	{".jedi/project.json", false, true, "Jedi, which editors start, executes the interpreter that it names"},
	{"kotlinLspClasspath.*", false, true, "the Kotlin language server executes it"},
	{"kls-classpath", false, true, "the Kotlin language server executes it"},
	{".fvm", true, true, "editors start the Flutter that it leads to"},
	{".vim", true, true, whyVim},
	{".nvim", true, true, whyVim},
	{".exrc", false, true, whyVim},
	{"_exrc", false, true, whyVim},
	{".vimrc", false, true, whyVim},
	{"_vimrc", false, true, whyVim},
	{".gvimrc", false, true, whyVim},
	{"_gvimrc", false, true, whyVim},
	{".nvimrc", false, true, whyVim},
	{".nvim.lua", false, true, whyVim},
	{".lvimrc", false, true, whyVim},
	{"Session.vim", false, true, whyVim},
	{".projections.json", false, true, "vim-projectionist executes commands that it names"},
	{".tasks", false, true, "asynctasks executes commands that it names"},
	{".ctags.d", true, true, whyCtags},
	{"ctags.d", true, true, whyCtags},
	{".ctags", false, true, whyCtags},
	{".gutctags", false, true, whyCtags},
	{"_vimrc_local.vim", false, true, whyVim},
	{".local.vimrc", false, true, whyVim},
	{".lazy.lua", false, true, whyVim},
	{".nvim-dap.lua", false, true, whyVim},
	{".nvim-dap", true, true, whyVim},
	{".vimspector.json", false, true, whyEditor},
	{".neoconf.json", false, true, whyLSP},
	{".nlsp-settings", true, true, whyLSP},
	{".ycm_extra_conf.py", false, true, "YouCompleteMe executes it"},
	{".lite_project.lua", false, true, "Lite XL executes it"},
	{".dir-locals.el", false, true, "Emacs evaluates it when a file below it is opened"},
	{".dir-locals-2.el", false, true, "Emacs evaluates it when a file below it is opened"},

	// Agent clients.
	{".claude", true, true, whyAgent},
	{".mcp.json", false, true, whyAgent},
	{".cursor", true, true, whyAgent},
	{".windsurf", true, true, whyAgent},
	{".codeium", true, true, whyAgent},
	{".trae", true, true, whyAgent},
	{".kiro", true, true, whyAgent},
	{".codex", true, true, whyAgent},
	{".gemini", true, true, whyAgent},
	{".opencode", true, true, whyAgent},
	{"opencode.json", false, true, whyAgent},
	{"opencode.jsonc", false, true, whyAgent},
	{".aider.conf.yml", false, true, "aider executes test and lint commands that it names"},
	{".continue", true, true, whyAgent},
	{".continuerc.json", false, true, whyAgent},
	{".roo", true, true, whyAgent},
	{".roomodes", false, true, whyAgent},
	{".cline", true, true, whyAgent},
	{".clinerules", true, true, whyAgent},
	{".kilocode", true, true, whyAgent},
	{".kilocodemodes", false, true, whyAgent},
	{".kilo", true, true, whyAgent},
	{"kilo.json", false, true, whyAgent},
	{"kilo.jsonc", false, true, whyAgent},
	{".amazonq", true, true, whyAgent},
	{".goose", true, true, whyAgent},
	{".crush", true, true, whyAgent},
	{".crush.json", false, true, whyAgent},
	{"crush.json", false, true, whyAgent},
	{".junie", true, true, whyAgent},
	{".augment", true, true, whyAgent},
	{".qwen", true, true, whyAgent},
	{".qoder", true, true, whyAgent},
	{".iflow", true, true, whyAgent},
	{".codebuddy", true, true, whyAgent},
	{".factory", true, true, whyAgent},
	{".agents", true, true, whyAgent},
	{".agent", true, true, whyAgent},
	{".amp", true, true, whyAgent},
	{".vibe", true, true, whyAgent},
	{".rovodev", true, true, whyAgent},
	{".tabnine", true, true, whyAgent},
	{".copilot", true, true, whyAgent},
	{".pi", true, true, whyAgent},
	{".grok", true, true, whyAgent},
	{".refact", true, true, whyAgent},
	{".warp", true, true, whyAgent},
	{".zcode", true, true, whyAgent},
	{"zcode.json", false, true, whyAgent},
	{".letta", true, true, whyAgent},
	{".forge", true, true, whyAgent},
	{".mux", true, true, whyAgent},
	{".omp", true, true, whyAgent},
	{".kimi", true, true, whyAgent},
	{".kode", true, true, whyAgent},
	{".deepagents", true, true, whyAgent},
	{".devin", true, true, whyAgent},
	{".mcphub", true, true, whyAgent},
	{"codebuff.json", false, true, whyAgent},
	{".ai/mcp", true, true, whyAgent},
	{".serena/project.yml", false, true, "Serena starts language servers that it names"},
	{".serena/project.local.yml", false, true, "Serena starts language servers that it names"},
	{".beads/hooks", true, true, "beads, which agents start, executes the hooks in it"},
	{"conductor.json", false, false, whyWorktree},
	{".superset", true, true, whyWorktree},
	{".emdash.json", false, true, whyWorktree},
	{".workmux.yaml", false, true, whyWorktree},
	{".gtrconfig", false, true, whyWorktree},
	{".config/wt.toml", false, true, whyWorktree},
	{"gptme.toml", false, true, "gptme executes its context_cmd"},
	{".github/hooks", true, true, "GitHub Copilot's clients execute the hooks in it"},
	{".github/agents", true, true, "GitHub Copilot's clients start the servers that agents in it name"},
	{".github/extensions", true, true, "GitHub Copilot's clients execute the extensions in it"},
	{".github/mcp.json", false, true, "GitHub Copilot's clients start the servers that it names"},
	{".github/copilot/settings.json", false, false, whyAgent},
	{".github/copilot/settings.local.json", false, false, whyAgent},
	{"lsp.json", false, false, "GitHub Copilot's clients start the language servers that it names"},
	{".github/lsp.json", false, false, "GitHub Copilot's clients start the language servers that it names"},
	{".openhands", true, false, "OpenHands executes the scripts in it"},

	// Containers that editors open a project in.
	{".devcontainer", true, true, "editors build and start the container it describes, with commands on the host"},
	{".devcontainer.json", false, true, "editors build and start the container it describes, with commands on the host"},

	// Shells and environment managers.
	{".envrc", false, true, "direnv executes it"},
	{".direnv", true, true, "direnv executes the cached environments in it"},
	{".autoenv", false, true, whyShell},
	{".autoenv.leave", false, true, whyShell},
	{".autoenv.zsh", false, true, whyShell},
	{".autoenv_leave.zsh", false, true, whyShell},
	{".shadowenv.d", true, true, whyShell},
	{".rvmrc", false, true, whyShell},
	{".rbenv-vars", false, true, "rbenv starts every Ruby with the variables that it sets, among them options that load files"},
	{".ruby-env", false, true, "RVM sets variables from it when a shell enters the folder, among them options that load files"},
	{".versions.conf", false, true, "RVM sets variables from it when a shell enters the folder, among them options that load files"},
	{".java-version", false, true, whyVersion},
	{".sdkmanrc", false, true, whyVersion},
	{".terraform-version", false, true, whyVersion},
	{".flox/env", true, true, whyShell},
	{"_opam/.opam-switch/switch-config", false, false, "opam has the shell take the PATH and variables from the switch that it makes of the folder"},
	{".tmux-sessionizer", false, true, "tmux-sessionizer has a shell execute it"},
	{"mise.toml", false, true, "mise executes its hooks and templates"},
	{".mise.toml", false, true, "mise executes its hooks and templates"},
	{"mise.*.toml", false, true, "mise executes its hooks and templates"},
	{".mise.*.toml", false, true, "mise executes its hooks and templates"},
	{".mise", true, true, "mise executes its hooks and templates"},
	{"mise/config.toml", false, true, "mise executes its hooks and templates"},
	{".config/mise", true, true, "mise executes the hooks and tasks in it"},
	{".config/mise.toml", false, true, "mise executes its hooks and templates"},
	{".config/mise.*.toml", false, true, "mise executes its hooks and templates"},
	{"mise/config.*.toml", false, true, "mise executes its hooks and templates"},
	{".miserc.toml", false, true, "mise takes from it which configs it reads"},
	{"mise/tasks", true, true, "mise executes the tasks in it"},
	{"mise-tasks", true, true, "mise executes the tasks in it"},
	{".mise-tasks", true, true, "mise executes the tasks in it"},
	{".tool-versions", false, true, "asdf executes what lies in a folder that it names (path:)"},
	{".prototools", false, true, "proto loads plugins that it names"},

	// Hook managers.
	{".husky", true, false, whyHook},
	{".huskyrc", false, false, whyHook},
	{".huskyrc.*", false, false, whyHook},
	{"husky.config.js", false, false, whyHook},
	{".pre-commit-config.yaml", false, true, whyHook},
	{".pre-commit-config.yml", false, true, whyHook},
	{"prek.toml", false, true, whyHook},
	{"lefthook.*", false, false, whyHook},
	{".lefthook.*", false, false, whyHook},
	{"lefthook-local.*", false, false, whyHook},
	{".lefthook-local.*", false, false, whyHook},
	{".lefthook", true, false, whyHook},
	{".lefthook-local", true, false, whyHook},
	{".config/lefthook.*", false, false, whyHook},
	{".overcommit.yml", false, false, whyHook},
	{".git-hooks", true, false, whyHook},
	{".githooks", true, false, whyHook},
	{".vite-hooks", true, false, whyHook},
	{".cargo-husky", true, false, whyHook},
	{".nano-staged.*", false, true, whyHook},
	{"nano-staged.*", false, true, whyHook},
	{".nanostagedrc", false, true, whyHook},
	{".czrc", false, true, whyHook},
	{".cz.json", false, true, whyHook},
	{".cz-config.*", false, true, whyHook},
	{"captainhook.json", false, false, whyHook},
	{"grumphp.yml", false, false, whyHook},
	{"hk.pkl", false, false, whyHook},
	{"hk.local.pkl", false, false, whyHook},
	{".config/hk.pkl", false, false, whyHook},
	{".rusty-hook.toml", false, false, whyHook},
	{".gitlint", false, false, "gitlint, which hooks start, loads rules from where it says"},
	{".simple-git-hooks.*", false, false, whyHook},
	{"simple-git-hooks.*", false, false, whyHook},
	{".lintstagedrc", false, true, whyHook},
	{".lintstagedrc.*", false, true, whyHook},
	{"lint-staged.config.*", false, true, whyHook},
	{".commitlintrc", false, true, whyHook},
	{".commitlintrc.*", false, true, whyHook},
	{"commitlint.config.*", false, true, whyHook},

	// Package managers and build tools: what only redirects them to other programs.
	{".cargo", true, true, "cargo, which editors start, executes runners, wrappers and linkers that it names"},
	{"rust-toolchain", false, true, "rustup executes the toolchain that it names"},
	{"rust-toolchain.toml", false, true, "rustup executes the toolchain that it names"},
	{"lean-toolchain", false, true, "elan fetches and executes the Lean that it names"},
	{".npmrc", false, true, whyPackages},
	{"nuget.config", false, true, whyPackages},
	{"NuGet.config", false, true, whyPackages},
	{"NuGet.Config", false, true, whyPackages},
	{"global.json", false, false, whyDotnet},
	{"Directory.Build.rsp", false, true, whyDotnet},
	{".luarocks/config-*.lua", false, true, whyPackages},
	{".swiftpm/configuration", true, true, whyPackages},
	{".yarnrc", false, true, whyPackages},
	{".yarnrc.yml", false, true, whyPackages},
	{".yarn/releases", true, true, "yarn executes the release in it"},
	{".yarn/plugins", true, true, "yarn executes the plugins in it"},
	{".pnpmfile.cjs", false, true, "pnpm executes it"},
	{".pnpmfile.mjs", false, true, "pnpm executes it"},
	{"bunfig.toml", false, true, "bun executes the files that it preloads"},
	{".bazelrc", false, false, whyBuild},
	{"*.bazelrc", false, true, whyBuild},
	{".bazelrc.*", false, true, whyBuild},
	{".bazeliskrc", false, false, whyBuild},
	{".bazelversion", false, false, "bazelisk fetches and executes the bazel that it names"},
	{"tools/bazel", false, true, "bazelisk executes it in place of bazel"},
	{".buckconfig", false, false, whyBuild},
	{".buckconfig.local", false, false, whyBuild},
	{".buckconfig.d", true, false, whyBuild},
	{".mvn", true, true, whyBuild},
	{".jvmopts", false, false, whyBuild},
	{".sbtopts", false, false, whyBuild},
	{".mill-jvm-opts", false, false, whyBuild},
	{".mill-opts", false, false, whyBuild},
	{".config/mill-jvm-opts", false, false, whyBuild},
	{".config/mill-opts", false, false, whyBuild},
	{".sbtrc", false, false, whyBuild},
	{".bloop", true, true, "Bloop, which Metals starts, loads the compilers and plugins that it names"},
	{"gradle/wrapper", true, true, "Gradle's wrapper, which editors start, fetches and executes the Gradle that it names"},
	{".pants.bootstrap", false, false, whyBuild},
	{".pants.rc", false, false, whyBuild},
	{".repo/repo", true, true, "repo executes the program in it in place of itself"},
	{".gclient", false, true, "gclient executes it"},
	{".arcconfig", false, true, "Arcanist loads the libraries that it names"},
	{".arclint", false, true, "Arcanist executes linters that it names"},
	{".reviewboardrc", false, true, "RBTools executes it"},
	{".p4config", false, true, "Perforce takes from it programs that it starts"},
	{"p4config.txt", false, true, "Perforce takes from it programs that it starts"},
	{".actrc", false, true, "act takes from it what its containers see of the machine"},
	{".bsp", true, true, "Metals and IntelliJ start the build servers that it names"},
	{".pdm-python", false, false, "pdm executes the interpreter that it names"},
	{"ansible.cfg", false, true, "Ansible loads plugins from where it says, and executes programs that it names"},
	{".latexmkrc", false, true, "latexmk, which editors start, executes it"},
	{"latexmkrc", false, true, "latexmk, which editors start, executes it"},

	// Language servers and linters that load programs by name.
	{"hie.yaml", false, true, "the Haskell language server executes programs that it names"},
	{".merlin", false, true, "OCaml's language server executes preprocessors that it names"},
	{"omnisharp.json", false, true, "OmniSharp loads analyzers that it names"},
	{".luarc.json", false, true, "the Lua language server loads plugins that it names"},
	{".luarc.jsonc", false, true, "the Lua language server loads plugins that it names"},
	{".ropeproject", true, true, "Python language servers execute its config.py"},
	{".pylintrc", false, true, "pylint, which editors start, executes its init-hook"},
	{"pylintrc", false, true, "pylint, which editors start, executes its init-hook"},
	{".pylintrc.toml", false, true, "pylint, which editors start, executes its init-hook"},
	{"pylintrc.toml", false, true, "pylint, which editors start, executes its init-hook"},
	{".lintr", false, true, "lintr, which editors start, evaluates it as R"},
	{".lintr.R", false, true, "lintr, which editors start, evaluates it as R"},
	{".rubocop.yml", false, true, "RuboCop, which editors start, loads files that it names, and executes what stands in it as ERB"},
	{".rubocop_todo.yml", false, true, "RuboCop, which editors start, executes what stands in it as ERB"},
	{"dprint.json", false, true, "dprint, which editors start, executes plugins and commands that it names"},
	{"dprint.jsonc", false, true, "dprint, which editors start, executes plugins and commands that it names"},
	{".dprint.json", false, true, "dprint, which editors start, executes plugins and commands that it names"},
	{".dprint.jsonc", false, true, "dprint, which editors start, executes plugins and commands that it names"},
	{".solargraph.yml", false, true, "the Ruby language server loads plugins that it names"},
	{"mypy.ini", false, true, "mypy, which editors start, loads plugins of the tree that it names"},
	{".mypy.ini", false, true, "mypy, which editors start, loads plugins of the tree that it names"},
	{".flake8", false, true, "flake8, which editors start, loads plugins of the tree that it names"},
	{"pyrefly.toml", false, true, "Pyrefly, which editors start, executes the interpreter that it names"},
	{".sqlfluff", false, true, whyLinter},
	{".ansible-lint", false, true, whyLinter},
	{".ansible-lint.*", false, true, whyLinter},
	{".config/ansible-lint.*", false, true, whyLinter},
	{".checkov.yaml", false, true, whyLinter},
	{".checkov.yml", false, true, whyLinter},
	{".tflint.hcl", false, true, whyLinter},
	{".oxlintrc.json", false, true, whyLinter},
	{".markdownlint-cli2.*", false, true, whyLinter},
	{".standard.yml", false, true, whyLinter},
	{".erb_lint.yml", false, true, whyLinter},
	{".erb-lint.yml", false, true, whyLinter},
	{".erb_linters", true, true, whyLinter},
	{"phpstan.neon", false, true, whyLinter},
	{"phpstan.neon.dist", false, true, whyLinter},
	{"phpstan.dist.neon", false, true, whyLinter},
	{"psalm.xml", false, true, whyLinter},
	{"psalm.xml.dist", false, true, whyLinter},
	{"phpcs.xml", false, true, whyLinter},
	{"phpcs.xml.dist", false, true, whyLinter},
	{".phpcs.xml", false, true, whyLinter},
	{".phpcs.xml.dist", false, true, whyLinter},
	{".scalafix.conf", false, true, "Scalafix, which Metals starts, compiles and executes rules that it names"},
	{"treefmt.toml", false, true, whyProgram},
	{".treefmt.toml", false, true, whyProgram},
	{"bacon.toml", false, true, whyProgram},
	{"sorbet/config", false, true, "Sorbet's language server takes its options from it, among them files that it writes"},
	{".lsp/config.edn", false, true, whyLSP},
	{"rust-analyzer.toml", false, true, whyLSP},
	{"rust-project.json", false, true, whyLSP},
	{"buildServer.json", false, true, "SourceKit's language server starts the build server that it names"},
	{".rust-project.json", false, true, whyLSP},
	{".sourcekit-lsp", true, true, whyLSP},
	{".emmyrc.json", false, true, whyLSP},
	{".phpactor.json", false, true, whyLSP},
	{".phpactor.yml", false, true, whyLSP},

	// Start-up files of interpreters and debuggers.
	{".irbrc", false, true, whyREPL},
	{"_irbrc", false, true, whyREPL},
	{"irbrc", false, true, whyREPL},
	{".pryrc", false, true, whyREPL},
	{".rdbgrc", false, true, whyDebugger},
	{".rdbgrc.rb", false, true, whyDebugger},
	{".byebugrc", false, true, whyDebugger},
	{".pdbrc", false, true, whyDebugger},
	{".pdbrc.py", false, true, whyDebugger},
	{".gdbinit", false, true, whyDebugger},
	{"gdbinit", false, true, whyDebugger},
	{".lldbinit", false, true, whyDebugger},
	{".perldb", false, true, whyDebugger},
	{".valgrindrc", false, true, "valgrind takes its options from it, among them commands and files that it writes"},
	{".Rprofile", false, true, whyREPL},
	{".Renviron", false, true, whyREPL},
	{".RData", false, true, "R loads it when it starts in the folder"},
	{"renv/activate.R", false, true, whyREPL},
	{".octaverc", false, true, whyREPL},
	{"startup.m", false, true, whyREPL},
	{"profile.do", false, true, whyREPL},
	{".ghci", false, true, whyREPL},
	{".ghcid", false, true, "ghcid executes the command that it names"},
	{".ocamlinit", false, true, whyREPL},
	{".iex.exs", false, true, whyREPL},
	{".psysh.php", false, true, whyREPL},
	{".tmuxinator.yml", false, false, "tmuxinator executes it"},
	{".tmuxinator.yaml", false, false, "tmuxinator executes it"},
	{".smug.yml", false, false, "smug executes commands that it names"},
	{".tmuxp.yaml", false, false, "tmuxp executes it"},
	{".tmuxp.yml", false, false, "tmuxp executes it"},
	{".tmuxp.json", false, false, "tmuxp executes it"},
	{".lazygit.yml", false, true, companions.Lazygit},

	// Ours.
	{".sidecar.yaml", false, true, whySidecar},
	{".sidecar", true, false, whySidecar},
}

// homeObeyed are obeyed in a user's home folder only: they count when the root is the home folder or holds it.
var homeObeyed = []Entry{
	{".bashrc", false, false, whyLogin}, {".bash_profile", false, false, whyLogin}, {".bash_login", false, false, whyLogin},
	{".bash_logout", false, false, whyLogin}, {".bash_aliases", false, false, whyLogin}, {".profile", false, false, whyLogin},
	{".zshrc", false, false, whyLogin}, {".zshenv", false, false, whyLogin}, {".zprofile", false, false, whyLogin},
	{".zlogin", false, false, whyLogin}, {".zlogout", false, false, whyLogin}, {".kshrc", false, false, whyLogin},
	{".cshrc", false, false, whyLogin}, {".tcshrc", false, false, whyLogin}, {".login", false, false, whyLogin},
	{".inputrc", false, false, whyLogin}, {".pam_environment", false, false, whyLogin}, {".xprofile", false, false, whyLogin},
	{".xsession", false, false, whyLogin}, {".xinitrc", false, false, whyLogin}, {".tmux.conf", false, false, whyLogin},
	{".screenrc", false, false, whyLogin}, {".emacs", false, false, whyLogin}, {".emacs.d", true, false, whyLogin},
	{".gitconfig", false, false, "it is git's config for all your repositories"}, {".hgrc", false, false, "it is Mercurial's config for all your repositories"},
	{".ssh", true, false, "ssh takes keys, hosts and commands from it"}, {".gnupg", true, false, "GnuPG takes keys and programs from it"},
	{".config", true, false, "most programs take their settings from it"}, {".local/bin", true, false, "your PATH finds programs in it"},
	{"bin", true, false, "your PATH finds programs in it"}, {".local/share/applications", true, false, "the desktop starts programs that it names"},
	{"Library/LaunchAgents", true, false, "macOS starts the programs that it names"},
}

const whyLogin = "your shell or desktop executes it when you log in or open a terminal"

// Obeyed tells whether host programs obey a file or folder of this name. A name with slashes is a path below a
// project's top; a bare name is matched wherever it lies, also by those entries that count at the top only.
func Obeyed(name string) (Entry, bool) {
	for _, e := range obeyed {
		if e.matches(name) {
			return e, true
		}
	}
	return Entry{}, false
}

// matches compares whole paths for entries that are paths, else base names.
func (e Entry) matches(name string) bool {
	if strings.Contains(e.Name, "/") {
		return e.Name == name || isPattern(e.Name) && matchPattern(e.Name, name)
	}
	base := path.Base(name)
	return e.Name == base || isPattern(e.Name) && matchPattern(e.Name, base)
}

// MatchIn is Match of what lies in a folder of a name: for entries that are paths and count anywhere.
func (r Rules) MatchIn(folder, base string) (Entry, bool) {
	for _, e := range obeyedTable().within[folder] {
		if name := folder + "/" + base; e.Anywhere && e.matches(name) && !r.excepts(e, name) {
			return e, true
		}
	}
	return Entry{}, false
}

// MatchPath is Match of a path somewhere below a project's top, for entries that count anywhere: the folder that the entry
// counts from comes with it.
func (r Rules) MatchPath(path string) (e Entry, top string, ok bool) {
	dir, base := filepath.Split(path)
	dir = filepath.Clean(dir)
	if e, ok = r.Match(base); ok && (e.Anywhere || isPattern(e.Name)) {
		return e, dir, true
	}
	e, ok = r.MatchIn(filepath.Base(dir), base)
	return e, filepath.Dir(dir), ok
}

// Leads says that in the place of a folder of this name a link would have programs obey what it leads to.
func (r Rules) Leads(name string) (reason string, ok bool) {
	for _, e := range obeyedTable().within[name] {
		if name != "tools" && name != "gradle" && name != "sorbet" && !r.excepts(e, e.Name) { // which anything may be called
			return "it leads to " + e.Name + ": " + e.Reason, true
		}
	}
	return "", false
}

func isPattern(name string) bool { return strings.ContainsAny(name, "*?[") }

func matchPattern(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
