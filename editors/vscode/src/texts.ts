// Documents that are made here, to be read only: the code of a run, the state of sidecars.
import {
  type Disposable,
  EventEmitter,
  type TextDocumentContentProvider,
  Uri,
  languages,
  window,
  workspace,
} from 'vscode';

const scheme = 'sidecar';
const most = 50;

/** The documents. */
export class Texts implements TextDocumentContentProvider {
  private readonly all = new Map<string, string>();
  private readonly changes = new EventEmitter<Uri>();
  readonly onDidChange = this.changes.event;

  register(): Disposable {
    return workspace.registerTextDocumentContentProvider(scheme, this);
  }

  provideTextDocumentContent(uri: Uri): string {
    return this.all.get(uri.path) ?? '';
  }

  /** Shows a text under a name, whose end says the language. */
  async open(name: string, text: string, language?: string): Promise<void> {
    const uri = Uri.from({ scheme, path: `/${name}` });
    this.all.delete(uri.path);
    this.all.set(uri.path, text);
    const oldest = this.all.keys().next();
    if (this.all.size > most && !oldest.done) this.all.delete(oldest.value);
    this.changes.fire(uri);
    const document = await workspace.openTextDocument(uri);
    if (language) await languages.setTextDocumentLanguage(document, language);
    await window.showTextDocument(document, { preview: true });
  }
}
