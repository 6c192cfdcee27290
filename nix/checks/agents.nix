# What lib.mkSandbox makes of a program: it is evaluated with arguments of each form, and with wrong ones. That it runs is
# shown by cmd/sidecar/testdata/nix.
{ pkgs, lib }:
let
  minimal = {
    inherit pkgs;
    pkg = pkgs.bash;
    binName = "bash";
    outName = "bash-sandboxed";
    allowedPackages = [ pkgs.coreutils ];
    sidecar = pkgs.bash; # never started here
  };
  make = args: lib.mkSandbox (minimal // args);
  profile = args: builtins.removeAttrs (make args).sidecar.profile [ "environment" ];

  defaults = {
    allow_nix = false;
    allowed_ports = [ ];
    home = "empty";
  };
  open = defaults // {
    network = "open";
  };
  only = allowed_domains: defaults // { inherit allowed_domains; };

  # Arguments, and the profile that they make.
  profiles = [
    {
      args = { };
      made = open;
    }
    {
      args.allowedDomains = null;
      made = open;
    }
    {
      args.allowedDomains = [ ];
      made = only [ ];
    }
    {
      args.allowedDomains = [
        "example.com"
        "*.example.org"
        "localhost:8443"
      ];
      made = only [
        "example.com"
        "*.example.org"
        "localhost:8443"
      ];
    }
    {
      args.allowedDomains = {
        "*" = [ "GET" ];
        "example.com" = "*";
        "blocked.example.com" = [ ];
      };
      made = only {
        "*" = [ "GET" ];
        "example.com" = "*";
        "blocked.example.com" = [ ];
      };
    }
    {
      args.allowedLocalPorts = [
        1
        65535
      ];
      made = open // {
        allowed_ports = [
          1
          65535
        ];
      };
    }
    {
      args.allowedLocalPorts = null;
      made = open // {
        allowed_ports = "all";
      };
    }
    {
      args.allowNix = true;
      made = open // {
        allow_nix = true;
      };
    }
    {
      args.home = "kept";
      made = open // {
        home = "kept";
      };
    }
  ];
  other = builtins.filter ({ args, made }: profile args != made) profiles;

  wrong = [
    { pkg = "bash"; }
    { binName = "../bash"; }
    { binName = ""; }
    { outName = "a b"; }
    { outName = 1; }
    { allowedPackages = pkgs.coreutils; }
    { allowedPackages = [ "coreutils" ]; }
    { allowNix = "yes"; }
    { home = "mine"; }
    { rwDirs = "$HOME/.claude"; }
    { rwDirs = [ 1 ]; }
    { rwFiles = [ "" ]; }
    { roDirs = { }; }
    { roFiles = null; }
    { env = [ "A" ]; }
    { env."A B" = ""; }
    { env."1A" = ""; }
    { env.A = null; }
    { env.A = [ "a" ]; }
    { allowedDomains = "example.com"; }
    { allowedDomains = [ "https://example.com" ]; }
    { allowedDomains = [ "a.*.example.com" ]; }
    { allowedDomains = [ "a b" ]; }
    { allowedDomains = [ 1 ]; }
    { allowedDomains."example.com" = "GET"; }
    { allowedDomains."example.com" = [ "get" ]; }
    { allowedDomains."example.com" = true; }
    { allowedLocalPorts = [ 0 ]; }
    { allowedLocalPorts = [ 65536 ]; }
    { allowedLocalPorts = [ "80" ]; }
    { allowedLocalPorts = 80; }
    { allowedLocalPorts = "all"; }
    { restrictNetwork = false; }
    { restrictNetwork = true; }
    { extraEnv = { }; }
    { stateDirs = [ ]; }
    { stateFiles = [ ]; }
    # Of the two functions of this name it is one.
    { interpreter_type = "python"; }
  ];
  taken = builtins.filter (args: (builtins.tryEval (make args).drvPath).success) wrong;
  neither = builtins.tryEval (
    (lib.mkSandbox {
      inherit pkgs;
      name = "a";
    }).drvPath
  );
  # What is taken by system has its pkgs.
  bySystem = lib.${pkgs.system};
in
{
  agents-evaluated =
    if other != [ ] then
      throw "lib.mkSandbox makes other profiles: ${builtins.toJSON (map ({ args, ... }: profile args) other)}"
    else if taken != [ ] then
      throw "lib.mkSandbox takes what it should refuse: ${
        builtins.toJSON (map (args: builtins.attrNames args) taken)
      }"
    else if neither.success then
      throw "lib.mkSandbox takes neither pkg nor interpreter_type"
    else if bySystem.commonTools != lib.commonTools pkgs || builtins.length bySystem.commonTools != 12 then
      throw "lib.commonTools are others"
    else if
      (bySystem.mkSandbox (builtins.removeAttrs minimal [ "pkgs" ])).drvPath != (make { }).drvPath
    then
      throw "lib.SYSTEM.mkSandbox makes another program"
    else
      pkgs.runCommand "sidecar-agents-evaluated" { } "echo evaluated > $out";

  # The script is one that bash can read, whatever is in texts, and the program is there.
  agent-built = make {
    outName = "bash.quoted";
    rwDirs = [
      "$HOME/with space"
      "\${XDG_CONFIG_HOME:-$HOME/.config}/it's"
    ];
    env = {
      A = "say \"hi\" \\";
      B = "$(cat \"/run/secrets/a b\")";
      C = 1;
      D = true;
      E = pkgs.coreutils;
      F = "two\nlines";
    };
  };
}
