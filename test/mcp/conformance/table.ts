// The scenarios, or single checks of them, that cannot hold for sidecar, each with its reason. What is not named here
// has to succeed, and what is named here and succeeds all the same has to go: a test holds both.

/** Why a scenario does not apply: as a whole, or in the checks that are named. */
export interface Exception {
  why: string;
  checks?: string[];
}

const noPrompts = 'sidecar has no prompts and declares none';
const otherResources = "the suite reads resources of its own; sidecar's are the outputs of runs, which are read in a test beside this one";
const nobodySubscribes = 'the output of a run that is over does not change, so subscribing is not declared';
const noLogging = 'sidecar declares no logging, which 2026-07-28 deprecates';
const textOnly = "a run's result is text and structure; run_code gives no other kind of content";
const noSampling = 'sidecar asks a client for its roots and the person for approval, never for sampling';
const otherForm = "wants the fields and keys of the fixture's own form; those of sidecar's are tested beside this";
const httpOnly = 'a matter of the HTTP transport; sidecar speaks stdio, and the bridge is not under test';

export const exceptions: Record<string, Exception> = {
  'logging-set-level': { why: noLogging },
  'tools-call-with-logging': { why: noLogging },
  'completion-complete': { why: 'completion is for arguments of prompts and resource templates, which sidecar does not have' },
  'prompts-list': { why: noPrompts },
  'prompts-get-simple': { why: noPrompts },
  'prompts-get-with-args': { why: noPrompts },
  'prompts-get-embedded-resource': { why: noPrompts },
  'prompts-get-with-image': { why: noPrompts },
  'resources-read-text': { why: otherResources },
  'resources-read-binary': { why: otherResources },
  'resources-templates-read': { why: otherResources },
  'resources-subscribe': { why: nobodySubscribes },
  'resources-unsubscribe': { why: nobodySubscribes },
  'sep-2164-resource-not-found': { why: 'a SHOULD: the message of the error names the resource, its data does not', checks: ['sep-2164-data-uri'] },
  'tools-call-image': { why: textOnly },
  'tools-call-audio': { why: textOnly },
  'tools-call-embedded-resource': { why: textOnly },
  'tools-call-mixed-content': { why: textOnly },
  'tools-call-sampling': { why: noSampling },
  'elicitation-sep1034-defaults': { why: otherForm },
  'elicitation-sep1330-enums': { why: otherForm },
  'json-schema-2020-12': { why: 'looks for the keywords of one fixture in its input schema, and ours needs none of them; that $defs, $ref and anyOf of ours arrive whole is a test beside this' },
  'server-sse-polling': { why: httpOnly, checks: ['server-sse-priming-event', 'server-sse-retry-field'] },
  'http-header-validation': { why: httpOnly, checks: ['sep-2243-server-reject-invalid-headers', 'sep-2243-server-reject-error-code'] },
  'http-custom-header-server-validation': { why: httpOnly },
  caching: {
    why: `${noPrompts}; outputs are not listed, so the suite finds none to read`,
    checks: ['sep-2549-prompts-list-caching-hints', 'sep-2549-resources-read-caching-hints'],
  },
  'server-stateless': {
    why: 'a server/discover without its _meta cannot be told from a request of the older revisions on stdio, where no header names the revision, and these do not know the method; no call needs a capability that the client may lack (run_code does without roots); no list changes',
    checks: [
      'sep-2575-request-meta-invalid-missing-meta', 'sep-2575-request-meta-invalid-missing-protocol-version', 'sep-2575-http-server-meta-invalid-400',
      'sep-2575-server-rejects-undeclared-capability', 'sep-2575-missing-capability-http-400',
      'sep-2575-server-sends-prompts-list-changed-on-subscription', 'sep-2575-server-sends-tools-list-changed-on-subscription',
    ],
  },
  'input-required-result-basic-elicitation': { why: otherForm },
  'input-required-result-basic-sampling': { why: noSampling },
  'input-required-result-multiple-input-requests': { why: 'sidecar asks one question at a time' },
  'input-required-result-capability-check': { why: 'the client declares sampling only, which sidecar does not ask for' },
  'input-required-result-ignore-extra-params': { why: 'answers a question of the fixture before it was asked' },
  'input-required-result-non-tool-request': { why: noPrompts },
};
