// The suite calls tools of its own that a server under test is to have. sidecar has two tools and adds none for a
// test. Where run_code, given the right code, does by itself what the suite wants to see, the bridge calls it in the
// fixture's place; the answer goes back untouched. All other fixtures reach sidecar by their own name, which it does
// not know, and their scenarios stand in the table of those that do not apply.
import type { Message } from './server.js';

interface Fixture {
  arguments: Record<string, unknown>;
  /** The call goes to a server of its own that is not told its workspace, so that it has to ask for roots. */
  asks?: true;
}

/** Wants names that no setting allows. */
const reach = (...names: string[]): Fixture => ({
  arguments: { language: 'python', code: `import urllib.request\nfor name in ${JSON.stringify(names)}:\n    try: urllib.request.urlopen(f"http://{name}/")\n    except OSError as e: print(e)\n` },
});

const bash = (code: string): Fixture => ({ arguments: { language: 'bash', code } });

const fixtures: Record<string, Fixture> = {
  // A run's text is among the content: the program prints what the fixture is to say.
  test_simple_text: bash("echo 'This is a simple text response for testing.'"),
  // A tool's error, as a model can make it: there is no such language.
  test_error_handling: { arguments: { language: 'nosuch', code: 'This tool intentionally returns an error for testing' } },
  // Output is progress: three lines with pauses longer than those in which sidecar gathers lines.
  test_tool_with_progress: bash('for i in 0 50 100; do echo "$i of 100"; sleep 0.2; done'),
  // What these two scenarios watch is what does not come: messages of the log unasked, requests to the client. Any
  // tool that does something will do.
  test_logging_tool: bash('echo logging; echo errors >&2'),
  test_streaming_elicitation: bash('echo streaming'),
  // A server that is not told its workspace needs input in the midst of a call: roots.
  test_input_required_result_list_roots: { ...bash('pwd'), asks: true },
  // What is asked for differs (elicitation). That there is a question, how it is marked, and what becomes of answers
  // that are none, does not.
  test_input_required_result_elicitation: { ...bash('pwd'), asks: true },
  // These ask the person. What the suite answers is none of what is offered.
  test_elicitation: reach('one.test'),
  test_input_required_result_request_state: reach('one.test'),
  test_input_required_result_tampered_state: reach('one.test'),
  test_input_required_result_multi_round: reach('one.test', 'two.test'),
};

/** The message to send on; asks says that the server must not know its workspace. */
export function asOurs(message: Message): { message: Message; asks: boolean } {
  const fixture = message.method === 'tools/call' ? fixtures[String(message.params?.name)] : undefined;
  if (!fixture) return { message, asks: false };
  return { message: { ...message, params: { ...message.params, name: 'run_code', arguments: fixture.arguments } }, asks: fixture.asks ?? false };
}
