// Questions of runs, put to the person one after the other.
import { Emitter } from './emitter';
import type { Answer, Question } from './protocol';
import * as say from './say';

/** Shows a question with these answers, and gives the one that was chosen; undefined is none. */
export type Show = (text: string, answers: string[]) => PromiseLike<string | undefined>;

/** The words for the answers. */
export const words: Record<string, Answer> = { Once: 'once', Always: 'always', No: 'no' };

/** What tells that an answer is wanted no more. */
export interface Withdrawal {
  onCancellationRequested: (tell: () => void) => unknown;
}

interface Waiting {
  question: Question;
  settle: (answer: Answer | undefined) => void;
}

/** The answers that a question offers. "always" is one only where the question says what that writes. */
export function offers(q: Question): string[] {
  return q.writes ? ['Once', 'Always', 'No'] : ['Once', 'No'];
}

/** The queue. */
export class Approvals {
  private queue: Waiting[] = [];
  private shown: Waiting | undefined;
  readonly changed = new Emitter<{ question: Question; waits: boolean }>();

  constructor(private readonly show: Show) {}

  /** How many questions wait. */
  get waiting(): number {
    return this.queue.length;
  }

  /** The one that is put now. */
  get first(): Question | undefined {
    return this.queue[0]?.question;
  }

  /** Puts a question; undefined is no answer, which leaves it to others. */
  ask(question: Question, withdrawn: Withdrawal): Promise<Answer | undefined> {
    return new Promise((resolve) => {
      const waiting: Waiting = {
        question,
        settle: (answer) => {
          if (!this.queue.includes(waiting)) return;
          this.queue = this.queue.filter((other) => other !== waiting);
          if (this.shown === waiting) this.shown = undefined;
          this.changed.fire({ question, waits: false });
          resolve(answer);
          this.next();
        },
      };
      this.queue.push(waiting);
      withdrawn.onCancellationRequested(() => {
        waiting.settle(undefined);
      });
      this.changed.fire({ question, waits: true });
      this.next();
    });
  }

  /** Answers a question by another way than the one that was shown. */
  answer(id: string, answer: Answer): void {
    this.queue.find((w) => w.question.id === id)?.settle(answer);
  }

  /** A run has ended, or all have: what it asked needs no answer any more. */
  ended(run?: string): void {
    for (const w of [...this.queue]) if (run === undefined || w.question.run === run) w.settle(undefined);
  }

  private next(): void {
    const next = this.queue[0];
    if (this.shown || !next) return;
    this.shown = next;
    const answers = offers(next.question);
    void this.show(say.message(`sidecar: ${say.question(next.question)}`), answers).then((word) => {
      next.settle(word !== undefined && answers.includes(word) ? words[word] : undefined);
    });
  }
}
