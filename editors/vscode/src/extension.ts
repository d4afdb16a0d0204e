// Starts the language server, and runs the program for commands.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { LanguageClient, LanguageClientOptions, ServerOptions } from 'vscode-languageclient/node';

let client: LanguageClient | undefined;
let output: vscode.OutputChannel;

interface Settings {
  path: string;
  libraries: string[];
}

function settings(): Settings {
  const configuration = vscode.workspace.getConfiguration('saltus');
  return { path: configuration.get('path', 'saltus'), libraries: configuration.get('libraries', []) };
}

function libraryArguments(libraries: string[]): string[] {
  const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
  return [...libraries, ...folders].flatMap((library) => ['--library', library]);
}

async function start(): Promise<void> {
  const { path, libraries } = settings();
  const server: ServerOptions = {
    command: path,
    args: ['lsp', ...libraries.flatMap((library) => ['--library', library])],
  };
  const options: LanguageClientOptions = {
    documentSelector: [{ language: 'modelica' }],
    outputChannel: output,
  };
  client = new LanguageClient('saltus', 'Saltus', server, options);
  try {
    await client.start();
  } catch (error) {
    void vscode.window.showErrorMessage(`Cannot start ${path}: ${String(error)}. Set saltus.path to the program.`);
  }
}

async function restart(): Promise<void> {
  await client?.stop();
  await start();
}

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

function run(words: string[], cwd: string): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(settings().path, words, { cwd, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === 'number' ? error.code : 1) : 0;
      resolve({ code, stdout, stderr: stderr || (error && !stdout ? error.message : '') });
    });
  });
}

/** The class that the cursor is in, with its packages: the outline of the server knows. */
async function classAtCursor(editor: vscode.TextEditor): Promise<string | undefined> {
  const symbols = await vscode.commands.executeCommand<vscode.DocumentSymbol[]>(
    'vscode.executeDocumentSymbolProvider',
    editor.document.uri,
  );
  const kinds = [vscode.SymbolKind.Class, vscode.SymbolKind.Package];
  const names: string[] = [];
  let level = symbols ?? [];
  for (;;) {
    const around = level.filter((symbol) => kinds.includes(symbol.kind));
    const found = around.find((symbol) => symbol.range.contains(editor.selection.active)) ?? (names.length ? undefined : around[0]);
    if (!found) {
      break;
    }
    names.push(found.name);
    level = found.children;
  }
  const within = /^\s*within\s+([\w.']+)\s*;/m.exec(editor.document.getText());
  return names.length ? [...(within?.[1] ? [within[1]] : []), ...names].join('.') : undefined;
}

interface Target {
  name: string;
  cwd: string;
  words: string[];
}

/** Saves the document and says how the program names the class in it. */
async function target(wanted?: string): Promise<Target | undefined> {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.languageId !== 'modelica') {
    void vscode.window.showInformationMessage('Open a Modelica file first.');
    return undefined;
  }
  await editor.document.save();
  const name = wanted ?? (await classAtCursor(editor));
  if (!name) {
    void vscode.window.showInformationMessage('There is no class at the cursor.');
    return undefined;
  }
  const file = editor.document.uri.fsPath;
  const cwd = vscode.workspace.getWorkspaceFolder(editor.document.uri)?.uri.fsPath ?? join(file, '..');
  return { name, cwd, words: [file, name, ...libraryArguments(settings().libraries)] };
}

function show(title: string, outcome: Outcome): void {
  output.appendLine(`# ${title}`);
  output.append(outcome.stderr);
  output.append(outcome.stdout);
  output.show(true);
}

async function command(word: string, name?: string): Promise<void> {
  const wanted = await target(name);
  if (wanted) {
    show(`saltus ${word} ${wanted.name}`, await run([word, ...wanted.words], wanted.cwd));
  }
}

/** What the server answers to `saltus.run`. */
interface RunResult {
  class: string;
  complete: boolean;
  summary: string;
  messages: string;
  profile: string;
  page: string | null;
}

/** Panels with curves by class, and the one that was shown last. */
const panels = new Map<string, vscode.WebviewPanel>();
let shown: vscode.WebviewPanel | undefined;

function showPage(name: string, page: string): void {
  let panel = panels.get(name);
  if (!panel) {
    const options = { enableScripts: true, retainContextWhenHidden: true };
    panel = vscode.window.createWebviewPanel('saltus.plot', name, vscode.ViewColumn.Beside, options);
    const created = panel;
    created.onDidDispose(() => {
      panels.delete(name);
      shown = shown === created ? undefined : shown;
    });
    panels.set(name, created);
  }
  panel.webview.html = page;
  panel.reveal(vscode.ViewColumn.Beside, true);
  shown = panel;
}

/** Runs the class as it stands in the editor, shows its curves, and lets the lenses tell what happened where. */
async function simulate(name?: string): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const wanted = name ?? (editor ? await classAtCursor(editor) : undefined);
  const server = client;
  if (!wanted || !server) {
    void vscode.window.showInformationMessage('There is no class at the cursor.');
    return;
  }
  const progress = { location: vscode.ProgressLocation.Notification, title: `Simulate ${wanted}`, cancellable: true };
  try {
    const result = await vscode.window.withProgress(progress, (_, token) =>
      server.sendRequest<RunResult>('workspace/executeCommand', { command: 'saltus.run', arguments: [wanted] }, token),
    );
    show(`simulate ${wanted}`, { code: 0, stderr: result.messages, stdout: `${result.summary}\n${result.profile}` });
    if (result.page) {
      showPage(wanted, result.page);
    }
  } catch (error) {
    if (!(error instanceof vscode.CancellationError)) {
      void vscode.window.showErrorMessage(`Cannot simulate ${wanted}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

/** Shows the curves of the last run of a class, or runs it. */
async function plot(name?: string): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const wanted = name ?? (editor ? await classAtCursor(editor) : undefined);
  const panel = wanted ? panels.get(wanted) : undefined;
  if (panel) {
    panel.reveal(vscode.ViewColumn.Beside, true);
    shown = panel;
  } else {
    await simulate(wanted);
  }
}

/** Shows a time in the curves of the last run. */
async function showTime(time: unknown): Promise<void> {
  if (typeof time === 'number' && shown) {
    shown.reveal(vscode.ViewColumn.Beside, true);
    await shown.webview.postMessage({ saltusTime: time });
  }
}

/** A lens hands over the name of its class, a menu something else. */
function nameOf(argument: unknown): string | undefined {
  return typeof argument === 'string' ? argument : undefined;
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  output = vscode.window.createOutputChannel('Saltus');
  context.subscriptions.push(
    output,
    vscode.commands.registerCommand('saltus.check', (name?: unknown) => command('check', nameOf(name))),
    vscode.commands.registerCommand('saltus.explain', (name?: unknown) => command('explain', nameOf(name))),
    vscode.commands.registerCommand('saltus.simulate', (name?: unknown) => simulate(nameOf(name))),
    vscode.commands.registerCommand('saltus.plot', (name?: unknown) => plot(nameOf(name))),
    vscode.commands.registerCommand('saltus.showTime', showTime),
    vscode.commands.registerCommand('saltus.restart', restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('saltus')) {
        void restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
