// Telling several, without the editor: what the parts that know nothing of VS Code say by.

/** Calls who listens; what one of them throws is the others' business no more than ours. */
export class Emitter<T> {
  private readonly all = new Set<(value: T) => void>();

  /** Listens; what it gives ends that. */
  readonly on = (listen: (value: T) => void): { dispose: () => void } => {
    this.all.add(listen);
    return { dispose: () => this.all.delete(listen) };
  };

  fire(value: T): void {
    for (const listen of this.all) listen(value);
  }
}
