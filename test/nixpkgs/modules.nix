# The least of nixpkgs' module system that the project's modules need, with its names and the beginning of its messages:
# options with types, definitions under mkIf, imports. There are no priorities, no orders and no freeform types.
let
  isOption = o: builtins.isAttrs o && (o._type or "") == "option";
  isIf = d: builtins.isAttrs d && (d._type or "") == "if";
  dots = builtins.concatStringsSep ".";

  mergeEqualOption =
    loc: defs:
    let
      first = builtins.head defs;
    in
    if builtins.all (d: d == first) defs then
      first
    else
      throw "The option `${dots loc}' has conflicting definition values";

  mkOptionType =
    {
      name,
      check ? (value: true),
      merge ? mergeEqualOption,
      description ? name,
      ...
    }:
    {
      _type = "option-type";
      inherit name check description merge;
    };

  # value is what the definitions of an option of a type come to.
  value =
    type: loc: defs:
    if builtins.all type.check defs then
      type.merge loc defs
    else
      throw "A definition for option `${dots loc}' is not of type `${type.description}'.";

  # pushed moves a condition inwards, so that the names under it are known without it.
  pushed =
    d:
    if !(isIf d) then
      [ d ]
    else if isIf d.content then
      pushed { _type = "if"; condition = d.condition && d.content.condition; inherit (d.content) content; }
    else if builtins.isAttrs d.content && !(d.content ? type) then
      [ (builtins.mapAttrs (name: content: { _type = "if"; inherit (d) condition; inherit content; }) d.content) ]
    else if d.condition then
      [ d.content ]
    else
      [ ];
  settled =
    d:
    if !(isIf d) then
      [ d ]
    else if d.condition then
      settled d.content
    else
      [ ];

  # evaluated is the configuration below loc: the options and what defines them.
  evaluated =
    loc: options: defs:
    if isOption options then
      let
        given = builtins.concatLists (map settled defs);
      in
      if given != [ ] then
        value options.type loc given
      else if options ? default then
        value options.type loc [ options.default ]
      else
        throw "The option `${dots loc}' is used but not defined."
    else
      let
        sets = builtins.concatLists (map pushed defs);
        unknown = builtins.filter (name: !(options ? ${name})) (
          builtins.concatLists (map builtins.attrNames sets)
        );
        here = builtins.mapAttrs (
          name: option:
          evaluated (loc ++ [ name ]) option (
            builtins.concatLists (map (set: if set ? ${name} then [ set.${name} ] else [ ]) sets)
          )
        ) options;
      in
      if !(builtins.all builtins.isAttrs sets) then
        throw "The option `${dots loc}' is no set of options, and is defined as a value"
      else if unknown != [ ] then
        throw "The option `${dots (loc ++ [ (builtins.head unknown) ])}' does not exist."
      else
        here;

  merged =
    a: b:
    if isOption a || isOption b then
      throw "an option is declared twice"
    else
      a // builtins.mapAttrs (name: o: if a ? ${name} then merged a.${name} o else o) b;

  evalModules =
    {
      modules,
      specialArgs ? { },
    }:
    let
      call = m: if builtins.isFunction m then m ({ inherit config lib; } // specialArgs) else m;
      collected =
        m:
        let
          it = call m;
        in
        builtins.concatLists (map collected (it.imports or [ ]))
        ++ [
          (
            if it ? options || it ? config then
              {
                options = it.options or { };
                config = it.config or { };
              }
            else
              {
                options = { };
                config = removeAttrs it [ "imports" ];
              }
          )
        ];
      all = builtins.concatLists (map collected modules);
      options = builtins.foldl' merged { } (map (m: m.options) all);
      config = evaluated [ ] options (map (m: m.config) all);
    in
    {
      inherit options config;
    };

  names = sets: builtins.attrNames (builtins.foldl' (a: b: a // b) { } sets);
  types = {
    anything = mkOptionType {
      name = "anything";
      merge =
        loc: defs:
        if builtins.all builtins.isAttrs defs then builtins.foldl' (a: b: a // b) { } defs else mergeEqualOption loc defs;
    };
    bool = mkOptionType {
      name = "boolean";
      check = builtins.isBool;
    };
    package = mkOptionType {
      name = "package";
      check = v: builtins.isAttrs v && (v.type or "") == "derivation";
      merge = loc: defs: builtins.head defs;
    };
    nullOr =
      type:
      mkOptionType {
        name = "nullOr";
        description = "null or ${type.description}";
        check = v: v == null || type.check v;
        merge = loc: defs: if builtins.all (d: d == null) defs then null else value type loc defs;
      };
    listOf =
      type:
      mkOptionType {
        name = "listOf";
        description = "list of ${type.description}";
        check = builtins.isList;
        merge = loc: defs: map (item: value type (loc ++ [ "[definition]" ]) [ item ]) (builtins.concatLists defs);
      };
    attrsOf =
      type:
      mkOptionType {
        name = "attrsOf";
        description = "attribute set of ${type.description}";
        check = builtins.isAttrs;
        merge =
          loc: defs:
          builtins.listToAttrs (
            map (name: {
              inherit name;
              value = value type (loc ++ [ name ]) (
                builtins.concatLists (map (d: if d ? ${name} then [ d.${name} ] else [ ]) defs)
              );
            }) (names defs)
          );
      };
    submodule =
      module:
      mkOptionType {
        name = "submodule";
        check = v: builtins.isAttrs v || builtins.isFunction v;
        merge = loc: defs: evaluated loc module.options defs;
      };
    addCheck = type: check: type // { check = v: type.check v && check v; };
  };

  lib = {
    inherit evalModules mkOptionType mergeEqualOption types;
    mkOption = o: { _type = "option"; } // o;
    mkEnableOption =
      what:
      lib.mkOption {
        type = types.bool;
        default = false;
        description = "Whether to enable ${what}.";
      };
    mkIf = condition: content: {
      _type = "if";
      inherit condition content;
    };
    removePrefix =
      p: s:
      if builtins.substring 0 (builtins.stringLength p) s == p then
        builtins.substring (builtins.stringLength p) (builtins.stringLength s) s
      else
        s;
  };
in
lib
