# A program that runs in its project's sandbox: bin/OUTNAME starts PKG/bin/BINNAME by `sidecar exec`, with the arguments of
# agent-sandbox.nix. The program sees the closure of its package and of allowedPackages, and nothing else of the store or of
# the machine's own system; its PATH is what allowedPackages have, and bash.
#
# Texts of env and paths are evaluated by bash when it starts, as in double quotes: "$TOKEN", "$(cat /run/secrets/token)". So
# a secret gets into neither the store nor a list of processes.
{
  pkgs,
  pkg,
  binName,
  outName,
  allowedPackages,
  # The machine's Nix: all of the store, the daemon, and nix in PATH.
  allowNix ? false,
  # Folders and files of the host, which have to exist.
  rwDirs ? [ ],
  rwFiles ? [ ],
  roDirs ? [ ],
  roFiles ? [ ],
  env ? { },
  # null is all of the internet; a list of names, or a set from names to "*" or lists of HTTP methods; [ ] is nothing.
  allowedDomains ? null,
  # TCP ports of this machine's loopback; null is all of them.
  allowedLocalPorts ? [ ],
  # The home folder: "empty", as agent-sandbox.nix has it, or "kept", one of the program's own that its next sessions find.
  home ? "empty",
  # sidecar itself: a package, or a folder with bin/sidecar.
  sidecar,
  # Names that agent-sandbox.nix had before its version 1.
  restrictNetwork ? null,
  extraEnv ? null,
  stateDirs ? null,
  stateFiles ? null,
}:
let
  inherit (builtins)
    all
    attrNames
    concatStringsSep
    filter
    isAttrs
    isList
    isString
    match
    replaceStrings
    toJSON
    ;

  fail = text: throw "sidecar.lib.mkSandbox: ${if isString outName then outName else "outName"}: ${text}";
  # check is value if ok, and otherwise an error.
  check =
    ok: text: value:
    if ok then value else fail text;
  isPackage = value: isAttrs value && (value.type or null) == "derivation";
  # shown is a value for a message: what cannot be written as JSON is named by its type.
  shown = value: if isAttrs value || builtins.isFunction value then builtins.typeOf value else toJSON value;

  old = {
    restrictNetwork = {
      value = restrictNetwork;
      new = "allowedDomains: leave it out for all of the internet, name domains, or give [ ] for nothing";
    };
    extraEnv = {
      value = extraEnv;
      new = "env";
    };
    stateDirs = {
      value = stateDirs;
      new = "rwDirs";
    };
    stateFiles = {
      value = stateFiles;
      new = "rwFiles";
    };
  };
  gone = filter (name: old.${name}.value != null) (attrNames old);
  current = check (gone == [ ]) (
    "names that are no longer taken:"
    + concatStringsSep "" (map (name: "\n  ${name} is now ${old.${name}.new}") gone)
  );

  # fileName is the name of a program, here also that of a profile.
  fileName =
    argument: value:
    check (
      isString value
      && match "[A-Za-z0-9][A-Za-z0-9._+-]*" value != null
      && builtins.stringLength value <= 64
    ) "${argument} is the name of a program, with letters, digits, ., _, + and -" value;
  out = fileName "outName" outName;
  program = "${pkgs.lib.getBin (check (isPackage pkg) "pkg is a package" pkg)}/bin/${fileName "binName" binName}";

  packages = check (
    isList allowedPackages && all isPackage allowedPackages
  ) "allowedPackages is a list of packages" allowedPackages;

  texts =
    argument: values:
    check (isList values && all (v: isString v && v != "") values)
      "${argument} is a list of paths, each a text such as \"$HOME/.config/claude\", and not ${shown values}"
      values;

  # evaluated is a text for bash to evaluate. Where it has no command, quotes and backslashes are its own.
  evaluated =
    text:
    let
      hasCommand = replaceStrings [ "$(" "`" ] [ "" "" ] text != text;
      plain =
        replaceStrings
          [
            "\\"
            "\""
          ]
          [
            "\\\\"
            "\\\""
          ]
          text;
    in
    "\"${if hasCommand then text else plain}\"";
  literal = text: "'${replaceStrings [ "'" ] [ "'\\''" ] text}'";

  paths =
    argument: flag: values:
    map (path: "give ${argument} ${flag} ${evaluated path} ${literal path}") (texts argument values);

  valueOf =
    name: value:
    if isString value then
      value
    else if builtins.isInt value || builtins.isFloat value || builtins.isBool value then
      toJSON value
    else if builtins.isPath value || isPackage value then
      "${value}"
    else
      fail "env.${name} is a text, and not ${shown value}";
  variable =
    name:
    check (match "[A-Za-z_][A-Za-z0-9_]*" name != null) "env: ${toJSON name} is no name of a variable" ''
      sidecar_value=${evaluated (valueOf name env.${name})} || refuse "env.${name}: its command failed with status $?"
      sidecar_variables+=("${name}=$sidecar_value")
    '';

  # A domain is what network.allowed_domains takes; sidecar itself looks at the rest.
  domain =
    name:
    check (
      isString name
      && (name == "*" || match "([*][.])?[^][:space:]/@,=|*.][^][:space:]/@,=|*]*" name != null)
    ) "allowedDomains: ${shown name} is no domain, such as \"example.com\" or \"example.com:8443\"" name;
  methods =
    name: value:
    check
      (
        value == "*"
        || isList value && all (method: isString method && match "[A-Z_-]+" method != null) value
      )
      "allowedDomains.${toJSON name} is \"*\" or a list of HTTP methods in capitals, and not ${shown value}"
      value;
  domains =
    if isList allowedDomains then
      map domain allowedDomains
    else if isAttrs allowedDomains then
      builtins.mapAttrs (name: methods (domain name)) allowedDomains
    else
      fail "allowedDomains is null, a list of domains, or a set from domains to \"*\" or lists of methods, and not ${shown allowedDomains}";

  isPort = port: builtins.isInt port && port >= 1 && port <= 65535;
  ports =
    if allowedLocalPorts == null then
      "all"
    else
      check (
        isList allowedLocalPorts && all isPort allowedLocalPorts
      ) "allowedLocalPorts is null (all), or a list of whole numbers from 1 to 65535, and not ${shown allowedLocalPorts}" allowedLocalPorts;

  environment = pkgs.buildEnv {
    name = "${out}-environment";
    # The first of two programs with one name is taken.
    paths =
      packages
      ++ [
        pkgs.bash
        pkgs.cacert
      ]
      ++ (if check (builtins.isBool allowNix) "allowNix is true or false" allowNix then [ pkgs.nix ] else [ ]);
    pathsToLink = [
      "/bin"
      "/etc/ssl"
    ];
    ignoreCollisions = true;
    # What is in sight, and not in PATH: the program, and env for /usr/bin/env.
    postBuild = ''
      [ -x ${program} ] || { echo "mkSandbox: ${out}: there is no ${program}" >&2; exit 1; }
      mkdir -p $out/libexec/sidecar
      ln -s ${program} $out/libexec/sidecar/program
      ln -s ${pkgs.coreutils}/bin/env $out/libexec/sidecar/env
    '';
  };

  # A profile of sidecar's settings.
  profile = {
    environment = "${environment}";
    home = check (home == "empty" || home == "kept") "home is \"empty\" or \"kept\"" home;
    allowed_ports = ports;
    allow_nix = allowNix;
  }
  // (if allowedDomains == null then { network = "open"; } else { allowed_domains = domains; });
  # The file's name is the profile's, which has no dots.
  profileFile = "/share/sidecar/${replaceStrings [ "." "+" ] [ "-" "-" ] out}.json";
  policy = pkgs.writeTextFile {
    name = "${out}-policy";
    text = toJSON profile + "\n";
    destination = profileFile;
  };

  script = ''
    #!${pkgs.bash}/bin/bash
    refuse() {
      printf '%s\n' "${out}: $1" >&2
      exit 64
    }
    sidecar_flags=() sidecar_variables=()
    give() { # ARGUMENT FLAG PATH, and PATH as it was written
      case $3 in
        /* | '~' | '~/'*) sidecar_flags+=("$2" "$3") ;;
        *) refuse "$1: $4 is \"$3\" here, and no absolute path" ;;
      esac
    }
  ''
  + concatStringsSep "" (
    map (line: line + "\n") (
      paths "rwDirs" "--rw-dir" rwDirs
      ++ paths "rwFiles" "--rw-file" rwFiles
      ++ paths "roDirs" "--ro-dir" roDirs
      ++ paths "roFiles" "--ro-file" roFiles
    )
    ++ map variable (attrNames (check (isAttrs env) "env is a set of variables" env))
  )
  + ''
    if [ ''${#sidecar_variables[@]} != 0 ]; then
      exec 3< <(printf '%s\0' "''${sidecar_variables[@]}")
      sidecar_flags+=(--env-file /dev/fd/3)
    fi
    exec ${sidecar}/bin/sidecar exec --policy ${policy}${profileFile} "''${sidecar_flags[@]}" -- ${program} "$@"
  '';
in
current (
  pkgs.writeTextFile {
    name = out;
    text = script;
    executable = true;
    destination = "/bin/${out}";
    # What env and paths make of the script is bash.
    checkPhase = "${pkgs.bash}/bin/bash -n $target";
    meta = {
      description = "${binName} in the sandbox of its project";
      mainProgram = out;
    };
    # The profile is for who starts the program otherwise, too: sidecar exec --policy.
    passthru.sidecar = {
      inherit environment profile;
      policy = "${policy}${profileFile}";
    };
  }
)
