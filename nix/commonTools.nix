# The command-line tools that agents count on, as agent-sandbox.nix has them.
pkgs: [
  pkgs.coreutils
  pkgs.which
  pkgs.git
  pkgs.ripgrep
  pkgs.fd
  pkgs.gnused
  pkgs.gnugrep
  pkgs.findutils
  pkgs.diffutils
  pkgs.less
  pkgs.gawk
  pkgs.jq
]
