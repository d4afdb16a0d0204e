// Starts the language server, and runs the program for commands.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
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

async function simulate(name?: string): Promise<void> {
  const wanted = await target(name);
  if (!wanted) {
    return;
  }
  const directory = await mkdtemp(join(tmpdir(), 'saltus-'));
  const [result, page] = [join(directory, 'result.mat'), join(directory, 'plot.html')];
  const outcome = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: `Simulate ${wanted.name}` },
    () => run(['simulate', ...wanted.words, '--output', result], wanted.cwd),
  );
  show(`saltus simulate ${wanted.name}`, outcome);
  if (outcome.code !== 0) {
    return;
  }
  const drawn = await run(['plot', result, '--output', page], wanted.cwd);
  if (drawn.code !== 0) {
    show('saltus plot', drawn);
    return;
  }
  const panel = vscode.window.createWebviewPanel('saltus.plot', wanted.name, vscode.ViewColumn.Beside, {
    enableScripts: true,
    retainContextWhenHidden: true,
  });
  panel.webview.html = await readFile(page, 'utf8');
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
