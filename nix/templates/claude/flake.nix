{
  description = "A dev shell with Claude Code in the project's sandbox";

  inputs = {
    nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";
    sidecar.url = "git+https://code.sidecar.dev/sidecar";
    sidecar.inputs.nixpkgs.follows = "nixpkgs";
  };

  outputs =
    { nixpkgs, sidecar, ... }:
    let
      systems = builtins.filter (system: nixpkgs.legacyPackages ? ${system}) [
        "x86_64-linux"
        "aarch64-linux"
      ];
    in
    {
      # nix develop
      devShells = nixpkgs.lib.genAttrs systems (
        system:
        let
          pkgs = import nixpkgs {
            inherit system;
            config.allowUnfreePredicate = pkg: nixpkgs.lib.getName pkg == "claude-code";
          };
          claude-sandboxed = sidecar.lib.mkSandbox {
            inherit pkgs;
            pkg = pkgs.claude-code;
            binName = "claude";
            outName = "claude-sandboxed";
            allowedPackages = sidecar.lib.commonTools pkgs;
            # A home of its own, where it finds its login and settings again. Your own would be there with
            # rwDirs = [ "$HOME/.claude" ], and hooks that it writes into it run outside of a sandbox, too.
            home = "kept";
            # Evaluated when it starts, so that no value gets into the store.
            env.CLAUDE_CODE_OAUTH_TOKEN = "$CLAUDE_CODE_OAUTH_TOKEN";
            allowedDomains = {
              "anthropic.com" = "*";
              "claude.ai" = "*";
              "claude.com" = "*";
              "raw.githubusercontent.com" = [
                "GET"
                "HEAD"
              ];
            };
          };
        in
        {
          default = pkgs.mkShell { packages = [ claude-sandboxed ]; };
        }
      );
    };
}
