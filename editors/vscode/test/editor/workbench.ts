// A window of the editor, in Debian's Chromium: what a person does in it, and sees.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type BrowserContext, type Locator, type Page, chromium } from 'playwright-core';
import { remove } from './remove';

/** How long what is awaited may take, on a machine that is slow and busy. */
export const patience = Number(process.env.PATIENCE ?? 60_000);

const flags = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
  '--disable-sync', '--disable-dev-shm-usage', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]; // prettier-ignore

/** A browser; strange are the hosts that were asked beyond this machine. */
export class Browser {
  readonly strange = new Set<string>();
  private constructor(
    private readonly context: BrowserContext,
    private readonly dir: string,
  ) {}

  static async start(size = { width: 1360, height: 860 }): Promise<Browser> {
    const dir = mkdtempSync(join(tmpdir(), 'sidecar-chromium-'));
    const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
    const context = await chromium.launchPersistentContext(dir, {
      executablePath,
      headless: true,
      viewport: size,
      args: flags,
    });
    context.setDefaultTimeout(patience);
    return new Browser(context, dir);
  }

  /** Opens a window. */
  async open(url: string): Promise<Workbench> {
    const page = await this.context.newPage();
    page.on('request', (r) => {
      const { hostname, protocol } = new URL(r.url());
      if (protocol.startsWith('http') && hostname !== '127.0.0.1') this.strange.add(hostname);
    });
    await page.goto(url);
    await page.locator('.monaco-workbench').waitFor();
    return new Workbench(page);
  }

  /** Keeps what each window shows. */
  async pictures(path: (i: number) => string): Promise<void> {
    for (const [i, page] of this.context.pages().entries()) await page.screenshot({ path: path(i) });
  }

  async stop(): Promise<void> {
    await this.context.close();
    remove(this.dir);
  }
}

/** A window. */
export class Workbench {
  constructor(readonly page: Page) {}

  get status(): Locator {
    return this.page.locator('.statusbar-item[id$="sidecar.status"]');
  }

  /** The line of the view for what holds a text. */
  row(text: string | RegExp): Locator {
    return this.page.locator('.pane-body .monaco-list-row', { hasText: text }).first();
  }

  notice(text: string | RegExp): Locator {
    return this.page.locator('.notification-toast', { hasText: text }).first();
  }

  /** Waits until the status bar says something. */
  async says(text: string | RegExp): Promise<void> {
    await this.status.filter({ hasText: text }).waitFor();
  }

  /** Does a command of the palette. */
  async command(title: string): Promise<void> {
    await this.quick('F1', `>${title}`, title);
  }

  /** Opens a file of the folder, by quick open; one with its whole path is found without a search. */
  async open(file: string): Promise<void> {
    await this.quick('Control+p', file, basename(file));
    await this.page.locator('.tab.active', { hasText: basename(file) }).waitFor();
  }

  /** Waits for the folders of a workspace's file. VS Code in a browser sometimes takes it for one without any until it is loaded again. */
  async hasFolders(): Promise<void> {
    const folder = this.page.locator('.explorer-folders-view .monaco-list-row').first();
    for (const end = Date.now() + patience; ; await this.page.reload()) {
      try {
        await folder.waitFor({ timeout: 10_000 });
        return;
      } catch (err) {
        if (Date.now() > end) throw err;
      }
    }
  }

  /** Opens a script, and runs it with the keys. */
  async run(file: string): Promise<void> {
    await this.open(file);
    await this.page.locator('.codelens-decoration a', { hasText: 'Run in sandbox' }).first().waitFor();
    await this.page.locator('.editor-instance .view-line').first().click();
    await this.page.keyboard.press('Control+Alt+Enter');
  }

  /** Takes what a key offers for a text; again where the window was not ready yet. */
  private async quick(key: string, text: string, choice: string): Promise<void> {
    const input = this.page.locator('.quick-input-widget input[type=text]').first();
    const row = this.page.locator('.quick-input-list .monaco-list-row', { hasText: choice }).first();
    for (const end = Date.now() + patience; ;) {
      await this.page.keyboard.press('Escape');
      await this.page.keyboard.press(key);
      try {
        await input.waitFor({ timeout: 5000 });
        await input.fill(text, { timeout: 5000 }); // it may hide again meanwhile
        await row.click({ timeout: 5000 });
        return;
      } catch (err) {
        if (Date.now() > end) throw err;
      }
    }
  }

  /** Shows the view. */
  async view(): Promise<void> {
    const label = this.page.locator('.activitybar .action-label[aria-label^="Sidecar"]').first();
    await label.waitFor();
    const open = this.page.locator('.activitybar .action-item.checked .action-label[aria-label^="Sidecar"]');
    if ((await open.count()) === 0) await label.click();
    await this.page.locator('.pane-header', { hasText: 'Runs' }).first().waitFor();
  }

  /** What the terminals that are seen show, a line each. */
  async terminal(): Promise<string> {
    const rows = await this.page.locator('.terminal-wrapper.active .xterm-rows > div').allInnerTexts();
    return rows.map((r) => r.replace(/\u00a0/g, ' ').trimEnd()).join('\n').trimEnd(); // prettier-ignore
  }

  /** Waits until a terminal shows something, and gives all that it shows. */
  async prints(what: string | RegExp): Promise<string> {
    let text = '';
    await this.until(`a terminal with ${String(what)}`, async () => {
      text = await this.terminal();
      return typeof what === 'string' ? text.includes(what) : what.test(text);
    }, () => text); // prettier-ignore
    return text;
  }

  /** Waits until something holds. */
  async until(what: string, holds: () => Promise<boolean> | boolean, seen = (): string => ''): Promise<void> {
    for (const end = Date.now() + patience; !(await holds());) {
      await this.page.waitForTimeout(50);
      if (Date.now() > end) throw new Error(`waited in vain for ${what}; there is\n${seen()}`);
    }
  }

  /** Takes the notifications away. */
  async clear(): Promise<void> {
    await this.command('Notifications: Clear All Notifications');
    await this.page.locator('.notification-toast').first().waitFor({ state: 'detached' });
  }

  /** Puts the cursor into a line of the editor, which holds a text. */
  async cursor(text: string): Promise<void> {
    await this.page.locator('.monaco-editor .view-line', { hasText: text }).first().click();
  }
}
