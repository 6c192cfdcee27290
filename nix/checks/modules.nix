# The modules, evaluated with nixpkgs' module system (the offline stand-in's has only what these need) beside the
# options of NixOS and home-manager that they define.
{
  pkgs,
  nixosModules,
  homeManagerModules,
}:
let
  inherit (pkgs) lib;
  anything =
    default:
    lib.mkOption {
      type = lib.types.anything;
      inherit default;
    };

  evaluated =
    module: options: programs:
    (lib.evalModules {
      specialArgs = { inherit pkgs; };
      modules = [
        module
        { inherit options; }
        { inherit programs; }
      ];
    }).config;
  nixos = evaluated nixosModules.default {
    environment.systemPackages = anything [ ];
    environment.etc = anything { };
  };
  home = evaluated homeManagerModules.default {
    home.packages = anything [ ];
    xdg.configFile = anything { };
  };

  # The example of nix-exec's README, in sidecar's names, and further settings of each type.
  example = {
    limits.timeout = "60s";
    nix.nixpkgs = "github:NixOS/nixpkgs/nixos-25.05";
  };
  rich = {
    limits = {
      timeout = "1h30m";
      timeout_max = 7200;
      memory = "1.5GiB";
      code = 4096;
      processes = 99;
    };
    env = {
      pass = [ "LANG" ];
      set.GREETING = "a: \"b\" # c";
    };
    nix = {
      use = "never";
      offline = true;
      substituters = [ ];
      environments.data = "github:me/envs#data";
    };
    protect.also = [ "tools/deploy.sh" ];
    files.rw_dirs = [ "~/.cache/go" ];
    network = {
      allowed_domains = {
        "*.example.com" = "*";
        "api.example.com:8443" = [
          "GET"
          "HEAD"
        ];
      };
      allowed_ports = "all";
      hosts."git.corp" = "10.0.0.7:443";
      sockets = [ "$SSH_AUTH_SOCK" ];
    };
    profiles.claude = {
      allowed_domains = [ "example.com" ];
      allowed_ports = [ 5432 ];
      home = "kept";
      memory = "8GiB";
      env = {
        A = "b";
        TOKEN.file = "/run/secrets/token";
        KEY.command = [
          "pass"
          "key"
        ];
      };
    };
    profiles.bare = { };
  };
  richText = ''
    # Written by programs.sidecar.settings.
    env:
      pass: ["LANG"]
      set: {"GREETING":"a: \"b\" # c"}
    files:
      rw_dirs: ["~/.cache/go"]
    limits:
      code: 4096
      memory: "1.5GiB"
      processes: 99
      timeout: "1h30m"
      timeout_max: 7200
    network:
      allowed_domains: {"*.example.com":"*","api.example.com:8443":["GET","HEAD"]}
      allowed_ports: "all"
      hosts: {"git.corp":"10.0.0.7:443"}
      sockets: ["$SSH_AUTH_SOCK"]
    nix:
      environments: {"data":"github:me/envs#data"}
      offline: true
      substituters: []
      use: "never"
    profiles:
      bare: {}
      claude: {"allowed_domains":["example.com"],"allowed_ports":[5432],"env":{"A":"b","KEY":{"command":["pass","key"]},"TOKEN":{"file":"/run/secrets/token"}},"home":"kept","memory":"8GiB"}
    protect:
      also: ["tools/deploy.sh"]
  '';
  exampleText = ''
    # Written by programs.sidecar.settings.
    limits:
      timeout: "60s"
    nix:
      nixpkgs: "github:NixOS/nixpkgs/nixos-25.05"
  '';

  on = settings: {
    sidecar = {
      enable = true;
      package = pkgs.bash;
      inherit settings;
    };
  };
  nixosFile = settings: (nixos (on settings)).environment.etc."sidecar/config.yaml".text;
  homeFile = settings: (home (on settings)).xdg.configFile."sidecar/config.yaml".text;

  wrong = [
    { limit.timeout = "60s"; }
    { limits.timeot = "60s"; }
    { sandbox.timeout = "60s"; }
    { limits = 3; }
    { limits.timeout = "a minute"; }
    { limits.timeout = "200h"; }
    { limits.timeout = "2h"; }
    { limits.timeout = [ "60s" ]; }
    { limits.memory = "4G"; }
    { limits.memory = "1MiB"; }
    { limits.processes = "many"; }
    { limits.processes = 0; }
    { protect.also = "a"; }
    { protect.also = [ "../a" ]; }
    { workspace.access = "none"; }
    { env.pass = [ "A B" ]; }
    { env.set."1A" = ""; }
    { nix.environments."a b" = "github:me/envs#data"; }
    { nix.environments.data = [ "github:me/envs#data" ]; }
    { nix.offline = "true"; }
    { nix.program = "nix"; }
    { files.rw_dirs = [ "relative" ]; }
    { network.run = "all"; }
    { network.allowed_domains = "example.com"; }
    { network.allowed_domains = [ "a.*.com" ]; }
    { network.allowed_domains."example.com" = "GET"; }
    { network.allowed_domains."example.com" = [ ]; }
    { network.allowed_domains."example.com" = [ "get" ]; }
    { network.allowed_ports = [ 0 ]; }
    { network.allowed_ports = [ "80" ]; }
    { network.hosts."git.corp" = "elsewhere.corp"; }
    { profiles."a.b" = { }; }
    { profiles.claude.rw_dir = [ ]; }
    { profiles.claude.memory = "1MiB"; }
    { profiles.claude.env.A = { }; }
    { profiles.claude.env.A.command = [ ]; }
    { profiles.claude.env.A.files = "/x"; }
  ];
  taken = builtins.filter (settings: (builtins.tryEval (nixosFile settings)).success) wrong;

  # holds is a check that its list of facts is true.
  holds =
    name: facts:
    let
      failed = builtins.filter (fact: !facts.${fact}) (builtins.attrNames facts);
    in
    if failed == [ ] then
      pkgs.runCommand "sidecar-${name}" { } "echo holds > $out"
    else
      throw "the check ${name}: ${builtins.concatStringsSep ", " failed}";
in
{
  module-nixos = holds "module-nixos" {
    example = nixosFile example == exampleText;
    rich = nixosFile rich == richText;
    package = (nixos (on example)).environment.systemPackages == [ pkgs.bash ];
    off = (nixos { sidecar.settings = example; }).environment.etc == { };
  };
  module-home-manager = holds "module-home-manager" {
    example = homeFile example == exampleText;
    rich = homeFile rich == richText;
    package = (home (on example)).home.packages == [ pkgs.bash ];
    off = (home { }).xdg.configFile == { };
  };
  module-refuses =
    if taken == [ ] then
      holds "module-refuses" { }
    else
      throw "the modules take wrong settings: ${builtins.toJSON taken}";

  # For test/nixpkgs/check, which has the program read it.
  module-file = pkgs.writeText "sidecar-config.yaml" (nixosFile rich);
}
