# The settings of sidecar as options of a module, from settings.json, which Go writes of its own schema (go generate
# ./sidecar/config): an unknown key, a value of a wrong type and one out of its bounds are errors of the evaluation.
{ lib }:
let
  settings = builtins.fromJSON (builtins.readFile ./settings.json);

  section = s: builtins.head (split s.key);
  # name is the last part: the others are the section, and "*" for the name of a profile.
  name = s: builtins.elemAt (split s.key) (builtins.length (split s.key) - 1);
  split = key: builtins.filter builtins.isString (builtins.split "\\." key);
  sections = builtins.attrNames (builtins.groupBy section settings);

  # number reads digits with at most one point, or is null.
  number =
    text:
    let
      parts = builtins.match "0*([0-9]*)\\.?([0-9]*)" text;
      orZero = digits: if digits == "" then "0" else digits;
    in
    if parts == null || builtins.match "\\.?" text != null then
      null
    else
      builtins.fromJSON "${orZero (builtins.head parts)}.${orZero (builtins.elemAt parts 1)}";

  # duration is "1h30m", or a number of seconds, in nanoseconds, or null.
  duration =
    text:
    let
      units = {
        ns = 1;
        us = 1000;
        ms = 1000000;
        s = 1000000000;
        m = 60000000000;
        h = 3600000000000;
      };
      parts = builtins.match "([0-9.]+)(ns|us|ms|s|m|h)(([0-9.].*)?)" text;
      first = number (builtins.head parts);
      rest = builtins.elemAt parts 2;
      others = if rest == "" then 0 else duration rest;
    in
    if number text != null then
      number text * units.s
    else if parts == null || first == null || others == null || number rest != null then
      null
    else
      first * units.${builtins.elemAt parts 1} + others;

  # nanoseconds are those of any valid duration.
  nanoseconds = value: if builtins.isString value then duration value else value * 1000000000;

  # size is "512MiB", whatever the case, or a number of bytes, in bytes, or null.
  size =
    text:
    let
      units = {
        "" = 1;
        b = 1;
        kb = 1000;
        mb = 1000000;
        gb = 1000000000;
        tb = 1000000000000;
        kib = 1024;
        mib = 1048576;
        gib = 1073741824;
        tib = 1099511627776;
      };
      low =
        builtins.replaceStrings [ "K" "M" "G" "T" "I" "B" ] [ "k" "m" "g" "t" "i" "b" ]
          text;
      parts = builtins.match "([0-9.]+) *([kmgt]?i?b|)" low;
      amount = number (builtins.head parts);
      unit = builtins.elemAt parts 1;
    in
    if parts == null || amount == null || !(units ? ${unit}) then null else amount * units.${unit};

  within = s: value: value != null && value >= s.min or value && value <= s.max or value;

  # inside says whether a path leads to something below the folder where it starts.
  inside =
    path:
    let
      depth = builtins.foldl' (
        at: part:
        if at < 0 then
          at
        else if part == "" || part == "." then
          at
        else if part == ".." then
          at - 1
        else
          at + 1
      ) 0 (builtins.filter builtins.isString (builtins.split "/" path));
    in
    printable path && builtins.substring 0 1 path != "/" && depth > 0;
  printable = text: builtins.match "[^[:cntrl:]]+" text != null;

  # What the schema asks of a text, by its tag "each".
  kinds = {
    text = printable;
    inherit inside;
    absolute = text: printable text && builtins.substring 0 1 text == "/";
    id =
      text:
      builtins.match "[A-Za-z0-9][A-Za-z0-9._-]*" text != null && builtins.stringLength text <= 64;
    name =
      text:
      builtins.match "[A-Za-z0-9][A-Za-z0-9_-]*" text != null && builtins.stringLength text <= 64;
    place =
      text:
      printable text
      && (
        builtins.substring 0 1 text == "/"
        || text == "~"
        || builtins.match "~/.*|\\$[A-Za-z_][A-Za-z0-9_]*(/.*)?|\\$\\{[A-Za-z_][A-Za-z0-9_]*}.*" text != null
      );
    folders = text: printable text && builtins.match "(/[^:]*)?(:(/[^:]*)?)*" text != null;
    machine =
      text:
      printable text
      && builtins.match "[^ -][^ ]*" text != null
      && builtins.match "[^@]*@-.*" text == null;
    host =
      text: builtins.match "[^[:cntrl:] /@,=|.][^[:cntrl:] /@,=|]*" text != null && builtins.stringLength text <= 253;
    address =
      text: builtins.match "[0-9.]+(:[0-9]+)?|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*(%.+)?|\\[[0-9a-fA-F:.]+(%.+)?]:[0-9]+" text != null;
    domain =
      text:
      builtins.match "\\*(:[0-9]+)?" text != null
      || kinds.host (lib.removePrefix "*." text) && builtins.match ".*\\*.*" (lib.removePrefix "*." text) == null;
    method = text: builtins.match "[A-Z_-]+" text != null && builtins.stringLength text <= 32;
    variable = text: builtins.match "[A-Za-z_][A-Za-z0-9_]*" text != null;
  };
  every = check: values: builtins.isList values && builtins.all (v: builtins.isString v && check v) values;
  everyName = check: values: builtins.all check (builtins.attrNames values);
  everyValue = check: values: builtins.all (key: check values.${key}) (builtins.attrNames values);
  fits = s: text: builtins.isString text && kinds.${s.each} text;

  # checked is a type of single values, described as "list of DESCRIPTION" and "null or DESCRIPTION" read well.
  checked =
    s: description: check:
    lib.mkOptionType {
      name = "sidecar-${s.type}";
      inherit description;
      descriptionClass = "noun";
      inherit check;
      merge = lib.mergeEqualOption;
    };

  types = {
    duration =
      s:
      checked s s.want (
        value:
        if builtins.isString value then
          within s (duration value)
        else
          (builtins.isInt value || builtins.isFloat value) && within s (nanoseconds value)
      );
    size =
      s:
      checked s s.want (
        value:
        if builtins.isString value then
          within s (size value)
        else
          builtins.isInt value && within s value
      );
    integer = s: checked s s.want (value: builtins.isInt value && within s value);
    boolean = s: checked s s.want builtins.isBool;
    word = s: checked s s.want (value: builtins.elem value s.words);
    text =
      s:
      checked s s.want (
        value: if s ? each && value != "" then fits s value else builtins.isString value
      );
    list = s: lib.types.listOf (checked s (lib.removePrefix "a list of " s.want) (fits s));
    map =
      s:
      lib.types.addCheck (lib.types.attrsOf (
        checked s (lib.removePrefix "a map of " s.want) (
          value: builtins.isString value && (!(s ? value) || kinds.${s.value} value)
        )
      )) (value: builtins.isAttrs value && everyName (fits s) value);
    domains =
      s:
      checked s s.want (
        value:
        every kinds.domain value
        || builtins.isAttrs value
          && everyName kinds.domain value
          && everyValue (methods: methods == "*" || methods != [ ] && every kinds.method methods) value
      );
    # All ports are "all" here, since null is an option that is not set.
    ports =
      s:
      checked s s.want (
        value:
        value == "all"
        || builtins.isList value && builtins.all (port: builtins.isInt port && port >= 1 && port <= 65535) value
      );
    env =
      s:
      checked s s.want (
        value: builtins.isAttrs value && everyName kinds.variable value && everyValue isEnvValue value
      );
  };

  # isEnvValue is a text, or one source of it.
  isEnvValue =
    value:
    builtins.isString value
    ||
      builtins.isAttrs value
      && builtins.length (builtins.attrNames value) == 1
      && (
        builtins.isString (value.file or null) && kinds.place value.file
        || builtins.isString (value.variable or null) && kinds.variable value.variable
        || every printable (value.command or null) && value.command != [ ]
      );

  option =
    s:
    lib.mkOption {
      type = lib.types.nullOr (types.${s.type} s);
      default = null;
      description = "${s.about} Want ${s.want}. Not set: ${s.default}";
    };
  optionsOf =
    of:
    builtins.listToAttrs (
      map (s: {
        name = name s;
        value = option s;
      }) (builtins.filter (s: section s == of) settings)
    );

  # profiles are a section of sections, with names of the person's choice.
  profiles = lib.mkOption {
    type = lib.types.addCheck (lib.types.attrsOf (
      lib.types.submodule { options = optionsOf "profiles"; }
    )) (value: builtins.isAttrs value && everyName kinds.name value);
    default = { };
    description = "How programs are started, by name (sidecar exec --profile NAME).";
  };
in
{
  # options has a set of options for each section.
  options =
    builtins.listToAttrs (
      map (of: {
        name = of;
        value = optionsOf of;
      }) (builtins.filter (of: of != "profiles") sections)
    )
    // {
      inherit profiles;
    };

  # file is what the config file has for values of these options.
  file =
    values:
    let
      given =
        of: builtins.filter (key: values.${of}.${key} != null) (builtins.attrNames values.${of});
      line = of: key: "  ${key}: ${builtins.toJSON (set values.${of}.${key})}\n";
      # set is a profile without what is not set in it; other values are as they are.
      set =
        value:
        if builtins.isAttrs value then
          removeAttrs value (builtins.filter (key: value.${key} == null) (builtins.attrNames value))
        else
          value;
      text = of: "${of}:\n${builtins.concatStringsSep "" (map (line of) (given of))}";
      limits = builtins.mapAttrs (
        key: value: if value == null then (named "limits.${key}").default else value
      ) values.limits;
      named = key: builtins.head (builtins.filter (s: s.key == key) settings);
    in
    if nanoseconds limits.timeout > nanoseconds limits.timeout_max then
      throw "programs.sidecar.settings.limits.timeout: have ${toString limits.timeout}, want at most limits.timeout_max, ${toString limits.timeout_max}"
    else
      builtins.concatStringsSep "" (
        [ "# Written by programs.sidecar.settings.\n" ]
        ++ map text (builtins.filter (of: given of != [ ]) sections)
      );
}
