// `sidecar mcp` as an MCP server of this editor's agents, one for each folder.
import { EventEmitter, McpStdioServerDefinition, lm, workspace } from 'vscode';
import { folders } from './ask';
import { type Connection } from './connection';
import { environment, settings } from './settings';

/** Offers it; editors that know no MCP servers of extensions (before VS Code 1.101, and some that are made of it) are left alone. */
export function offerMcp(
  connection: Connection,
  version: string,
  log: (text: string) => void,
): { update: () => void; dispose: () => void } {
  const changes = new EventEmitter<void>();
  const update = (): void => {
    changes.fire();
  };
  const provide = (): McpStdioServerDefinition[] => {
    if (!workspace.isTrusted || !settings.offersMcp) return [];
    const program = connection.find().path;
    if (!program) return [];
    const all = folders();
    return all.map((f) => {
      const label = all.length > 1 ? `Sidecar (${f.name})` : 'Sidecar';
      return new McpStdioServerDefinition(label, program, ['mcp', '--workspace', f.uri.fsPath], environment(), version);
    });
  };
  try {
    const registered = lm.registerMcpServerDefinitionProvider('sidecar', {
      onDidChangeMcpServerDefinitions: changes.event,
      provideMcpServerDefinitions: provide,
    });
    return {
      update,
      dispose: () => {
        registered.dispose();
      },
    };
  } catch (err) {
    log(`agents of this editor are not offered sidecar: ${String(err)}`);
    return { update, dispose: () => undefined };
  }
}
