# lib.mkSandbox: two functions had this name. With interpreter_type it is nix-sandbox-mcp's and makes an environment; with pkg
# it is agent-sandbox.nix's and makes a program that runs in a sandbox.
{ packages }:
args:
let
  fail = text: throw "sidecar.lib.mkSandbox: ${text}";
  # The flake's own sidecar, unless the arguments name another.
  sidecar =
    packages.${args.pkgs.system}.sidecar
      or (fail "this nixpkgs cannot build sidecar for ${args.pkgs.system}: name it with the argument sidecar");
in
if args ? pkg && args ? interpreter_type then
  fail "pkg makes a program that runs in a sandbox, and interpreter_type an environment: give one of them"
else if args ? pkg then
  import ./mkSandbox.nix ({ inherit sidecar; } // args)
else if args ? interpreter_type then
  import ./mkEnv.nix args
else
  fail "neither pkg, for a program that runs in a sandbox, nor interpreter_type, for an environment"
