//! Requests of the editor: what the server can, and one small function for each.

use std::io::Write;
use std::path::{Path, PathBuf};

use saltus_ide::{Analysis, CallSite, Encoding, LinkTarget, NavigationTarget, Problem, QuickFix, Reference, RunNote};
use serde_json::{Map, Value, json};

use crate::convert::{self, Page};
use crate::server::Server;
use crate::uri;

/// What a request comes to; `Err` is shown to the user.
type Answer = Result<Value, String>;

pub(crate) fn capabilities(encoding: Encoding) -> Value {
    json!({
        "positionEncoding": match encoding { Encoding::Utf8 => "utf-8", Encoding::Utf16 => "utf-16" },
        "textDocumentSync": {"openClose": true, "change": 2},
        "completionProvider": {"triggerCharacters": [".", "(", ","]},
        "hoverProvider": true,
        "signatureHelpProvider": {"triggerCharacters": ["(", ","]},
        "definitionProvider": true,
        "declarationProvider": true,
        "typeDefinitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "documentFormattingProvider": true,
        "documentRangeFormattingProvider": true,
        "codeActionProvider": {"codeActionKinds": ["quickfix", "refactor.rewrite"]},
        "renameProvider": {"prepareProvider": true},
        "foldingRangeProvider": true,
        "selectionRangeProvider": true,
        "inlayHintProvider": true,
        "documentLinkProvider": {},
        "codeLensProvider": {},
        "executeCommandProvider": {"commands": [crate::runs::RUN]},
        "typeHierarchyProvider": true,
        "callHierarchyProvider": true,
        "semanticTokensProvider": {
            "legend": {"tokenTypes": convert::TOKEN_TYPES, "tokenModifiers": ["declaration"]},
            "full": true,
            "range": true,
        },
        "workspace": {"workspaceFolders": {"supported": true, "changeNotifications": true}},
    })
}

/// The answer to a request; `None` for a method that nobody knows.
pub(crate) fn answer<W: Write>(server: &Server<W>, method: &str, params: &Value) -> Option<Answer> {
    let request = Request::new(server, params);
    Some(match method {
        "textDocument/hover" => or_null(hover(&request)),
        "textDocument/completion" => or_null(completion(&request)),
        "textDocument/signatureHelp" => or_null(signature_help(&request)),
        "textDocument/definition" => or_null(definition(&request)),
        "textDocument/declaration" => or_null(declaration(&request)),
        "textDocument/typeDefinition" => or_null(type_definition(&request)),
        "textDocument/references" => or_null(references(&request)),
        "textDocument/documentHighlight" => or_null(document_highlight(&request)),
        "textDocument/documentSymbol" => or_null(document_symbol(&request)),
        "workspace/symbol" => or_null(workspace_symbol(&request)),
        "textDocument/formatting" => or_null(formatting(&request)),
        "textDocument/rangeFormatting" => or_null(range_formatting(&request)),
        "textDocument/prepareRename" => prepare_rename(&request),
        "textDocument/rename" => rename(&request),
        "textDocument/codeAction" => or_null(code_action(&request)),
        "textDocument/foldingRange" => or_null(folding_range(&request)),
        "textDocument/selectionRange" => or_null(selection_range(&request)),
        "textDocument/inlayHint" => or_null(inlay_hint(&request)),
        "textDocument/documentLink" => or_null(document_link(&request)),
        "textDocument/codeLens" => or_null(code_lens(&request)),
        "textDocument/semanticTokens/full" => or_null(semantic_tokens(&request, false)),
        "textDocument/semanticTokens/range" => or_null(semantic_tokens(&request, true)),
        "textDocument/prepareTypeHierarchy" | "textDocument/prepareCallHierarchy" => or_null(hierarchy_item(&request)),
        "typeHierarchy/supertypes" => or_null(type_hierarchy(&request, Analysis::supertypes)),
        "typeHierarchy/subtypes" => or_null(type_hierarchy(&request, Analysis::subtypes)),
        "callHierarchy/outgoingCalls" => or_null(call_hierarchy(&request, Analysis::outgoing_calls, "to")),
        "callHierarchy/incomingCalls" => or_null(call_hierarchy(&request, Analysis::incoming_calls, "from")),
        _ => return None,
    })
}

fn or_null(value: Option<Value>) -> Answer {
    Ok(value.unwrap_or(Value::Null))
}

/// What a request is about: most name a document and a place in it.
struct Request<'a> {
    analysis: Analysis<'a>,
    params: &'a Value,
    path: PathBuf,
    encoding: Encoding,
    has_snippets: bool,
    /// What the last check found in the document.
    checked: &'a [Problem],
    /// What its models come to.
    structures: &'a [(String, String)],
    /// What the last run had to say about it.
    notes: &'a [RunNote],
}

impl<'a> Request<'a> {
    fn new<W: Write>(server: &'a Server<W>, params: &'a Value) -> Self {
        let path = uri::to_path(params["textDocument"]["uri"].as_str().unwrap_or(""));
        Self {
            notes: server.documents.get(&path).map_or(&[][..], |document| document.notes.as_slice()),
            structures: server.documents.get(&path).map_or(&[][..], |document| document.structures.as_slice()),
            checked: server.documents.get(&path).map_or(&[][..], |document| document.problems.as_slice()),
            analysis: Analysis::new(&server.session),
            params,
            path,
            encoding: server.encoding,
            has_snippets: server.client.has_snippets,
        }
    }

    fn page(&self) -> Option<Page<'a>> {
        self.page_of(&self.path)
    }

    fn page_of(&self, path: &Path) -> Option<Page<'a>> {
        Page::open(&self.analysis, path, self.encoding)
    }

    /// The byte that the request points at.
    fn offset(&self) -> Option<u32> {
        Some(self.page()?.offset(&self.params["position"]))
    }

    fn range(&self) -> Option<(u32, u32)> {
        let page = self.page()?;
        Some((page.offset(&self.params["range"]["start"]), page.offset(&self.params["range"]["end"])))
    }

    fn target(&self, target: Option<NavigationTarget>) -> Option<Value> {
        convert::target(&self.analysis, &target?, self.encoding)
    }

    fn locations(&self, references: &[Reference]) -> Value {
        references.iter().filter_map(|r| convert::location(&self.analysis, &r.place, self.encoding)).collect()
    }
}

fn hover(request: &Request<'_>) -> Option<Value> {
    let hover = request.analysis.hover(&request.path, request.offset()?)?;
    let contents = json!({"kind": "markdown", "value": hover.text});
    Some(json!({"contents": contents, "range": request.page()?.range(hover.start, hover.end)}))
}

fn completion(request: &Request<'_>) -> Option<Value> {
    let page = request.page()?;
    let found = request.analysis.complete(&request.path, request.offset()?);
    let item = |item| convert::completion(&page, found.start, found.end, item, request.has_snippets);
    Some(json!({"isIncomplete": false, "items": found.items.iter().map(item).collect::<Vec<_>>()}))
}

fn signature_help(request: &Request<'_>) -> Option<Value> {
    let help = request.analysis.signature_help(&request.path, request.offset()?)?;
    let inputs: Vec<Value> =
        help.inputs.iter().map(|(label, text)| json!({"label": label, "documentation": text})).collect();
    let signature = json!({"label": help.label, "documentation": help.description, "parameters": inputs});
    Some(json!({"signatures": [signature], "activeSignature": 0, "activeParameter": help.active}))
}

fn definition(request: &Request<'_>) -> Option<Value> {
    if let Some(link) = link_at(request) {
        return Some(link);
    }
    request.target(request.analysis.definition(&request.path, request.offset()?))
}

/// A class behind a `modelica://` address.
fn link_at(request: &Request<'_>) -> Option<Value> {
    let offset = request.offset()?;
    let links = request.analysis.links(&request.path);
    let link = links.iter().find(|link| link.start <= offset && offset <= link.end)?;
    match &link.target {
        LinkTarget::Class(place) => convert::location(&request.analysis, place, request.encoding),
        LinkTarget::File(_) => None,
    }
}

fn declaration(request: &Request<'_>) -> Option<Value> {
    let place = request.analysis.declaration(&request.path, request.offset()?)?;
    convert::location(&request.analysis, &place, request.encoding)
}

fn type_definition(request: &Request<'_>) -> Option<Value> {
    request.target(request.analysis.type_definition(&request.path, request.offset()?))
}

fn references(request: &Request<'_>) -> Option<Value> {
    let with_declaration = request.params["context"]["includeDeclaration"].as_bool().unwrap_or(true);
    let mut found = request.analysis.references(&request.path, request.offset()?);
    found.retain(|reference| with_declaration || !reference.is_declaration);
    Some(request.locations(&found))
}

fn document_highlight(request: &Request<'_>) -> Option<Value> {
    let page = request.page()?;
    let found = request.analysis.related_in_file(&request.path, request.offset()?);
    let mark = |r: &Reference| json!({"range": page.range(r.place.start, r.place.end), "kind": if r.is_declaration { 3 } else { 2 }});
    Some(found.iter().map(mark).collect())
}

fn document_symbol(request: &Request<'_>) -> Option<Value> {
    Some(request.page()?.outline(&request.analysis.outline(&request.path)))
}

fn workspace_symbol(request: &Request<'_>) -> Option<Value> {
    let found = request.analysis.workspace_symbols(request.params["query"].as_str().unwrap_or(""));
    let symbol = |target: &NavigationTarget| {
        let location = convert::target(&request.analysis, target, request.encoding)?;
        let kind = convert::symbol_kind(target.kind);
        Some(json!({"name": target.name, "kind": kind, "containerName": target.container, "location": location}))
    };
    Some(found.iter().filter_map(symbol).collect())
}

fn formatting(request: &Request<'_>) -> Option<Value> {
    Some(request.page()?.edits(&request.analysis.format(&request.path)))
}

fn range_formatting(request: &Request<'_>) -> Option<Value> {
    let (start, end) = request.range()?;
    Some(request.page()?.edits(&request.analysis.format_range(&request.path, start, end)))
}

fn prepare_rename(request: &Request<'_>) -> Answer {
    let (Some(page), Some(offset)) = (request.page(), request.offset()) else { return Ok(Value::Null) };
    let (start, end) = request.analysis.prepare_rename(&request.path, offset)?;
    Ok(page.range(start, end))
}

fn rename(request: &Request<'_>) -> Answer {
    let offset = request.offset().ok_or("the document cannot be read")?;
    let new = request.params["newName"].as_str().unwrap_or("");
    let change = request.analysis.rename(&request.path, offset, new)?;
    let mut changes = Map::new();
    for (path, edits) in &change.edits {
        if let Some(page) = request.page_of(path) {
            changes.insert(uri::of_path(path), page.edits(edits));
        }
    }
    Ok(json!({"changes": changes}))
}

/// Fixes of the problems in a range, then what can be done with the declaration there.
fn code_action(request: &Request<'_>) -> Option<Value> {
    let page = request.page()?;
    let (start, end) = request.range()?;
    let syntax = request.analysis.syntax_problems(&request.path);
    let mut actions = Vec::new();
    for problem in syntax.iter().chain(request.checked).filter(|p| p.start <= end && start <= p.end) {
        for fix in request.analysis.fixes(&request.path, problem) {
            let diagnostics = convert::diagnostics(&request.analysis, &page, std::slice::from_ref(problem));
            let mut action = action(request, &page, &fix, "quickfix");
            action["diagnostics"] = diagnostics;
            if !actions.iter().any(|known: &Value| known["title"] == action["title"] && known["edit"] == action["edit"])
            {
                actions.push(action);
            }
        }
    }
    let assists = request.analysis.assists(&request.path, start);
    actions.extend(assists.iter().map(|fix| action(request, &page, fix, "refactor.rewrite")));
    Some(Value::Array(actions))
}

fn action(request: &Request<'_>, page: &Page<'_>, fix: &QuickFix, kind: &str) -> Value {
    let uri = request.params["textDocument"]["uri"].as_str().unwrap_or("");
    json!({"title": fix.title, "kind": kind, "edit": {"changes": {uri: page.edits(&fix.edits)}}})
}

fn folding_range(request: &Request<'_>) -> Option<Value> {
    let page = request.page()?;
    let fold = |fold: &saltus_ide::Fold| {
        let kind = if fold.is_comment { "comment" } else { "region" };
        let line = |offset| page.position(offset)["line"].clone();
        json!({"startLine": line(fold.start), "endLine": line(fold.end), "kind": kind})
    };
    Some(request.analysis.folds(&request.path).iter().map(fold).collect())
}

fn selection_range(request: &Request<'_>) -> Option<Value> {
    let page = request.page()?;
    let nested = |place: &Value| {
        let found = request.analysis.selections(&request.path, page.offset(place));
        found.iter().rev().fold(Value::Null, |parent, &(start, end)| {
            let range = page.range(start, end);
            if parent.is_null() { json!({"range": range}) } else { json!({"range": range, "parent": parent}) }
        })
    };
    Some(request.params["positions"].as_array()?.iter().map(nested).collect())
}

fn inlay_hint(request: &Request<'_>) -> Option<Value> {
    let page = request.page()?;
    let (start, end) = request.range()?;
    let hints = request.analysis.inlay_hints(&request.path, start, end);
    Some(hints.iter().map(|hint| json!({"position": page.position(hint.at), "label": hint.text})).collect())
}

fn document_link(request: &Request<'_>) -> Option<Value> {
    let page = request.page()?;
    let link = |link: &saltus_ide::Link| {
        let target = match &link.target {
            LinkTarget::Class(place) => {
                let at = request.page_of(&place.path)?.position(place.start);
                format!("{}#{}", uri::of_path(&place.path), at["line"].as_u64()? + 1)
            }
            LinkTarget::File(path) => uri::of_path(path),
        };
        Some(json!({"range": page.range(link.start, link.end), "target": target}))
    };
    Some(request.analysis.links(&request.path).iter().filter_map(link).collect())
}

/// What each model comes to, and what can be done with it; the commands are the editor's.
fn code_lens(request: &Request<'_>) -> Option<Value> {
    let page = request.page()?;
    let mut lenses = Vec::new();
    for model in request.analysis.models(&request.path) {
        let range = page.range(model.start, model.end);
        let known = request.structures.iter().find(|(class, _)| *class == model.class);
        let explain = known.map_or("explain", |(_, line)| line.as_str());
        let commands = [
            (explain, "saltus.explain"),
            ("simulate", "saltus.simulate"),
            ("plot", "saltus.plot"),
            ("check", "saltus.check"),
        ];
        for (title, command) in commands {
            let command = json!({"title": title, "command": command, "arguments": [model.class]});
            lenses.push(json!({"range": range, "command": command}));
        }
    }
    for note in request.notes {
        let command = json!({"title": note.text, "command": "saltus.showTime", "arguments": [note.time]});
        lenses.push(json!({"range": page.range(note.start, note.end), "command": command}));
    }
    Some(Value::Array(lenses))
}

fn semantic_tokens(request: &Request<'_>, is_range: bool) -> Option<Value> {
    let range = if is_range { Some(request.range()?) } else { None };
    Some(request.page()?.tokens(&request.analysis.highlight(&request.path, range)))
}

/// A class as an item of a hierarchy.
fn item(request: &Request<'_>, target: &NavigationTarget) -> Option<Value> {
    let page = request.page_of(&target.full.path)?;
    Some(json!({
        "name": target.name,
        "detail": target.container,
        "kind": convert::symbol_kind(target.kind),
        "uri": uri::of_path(&target.full.path),
        "range": page.range(target.full.start, target.full.end),
        "selectionRange": page.range(target.focus.start, target.focus.end),
    }))
}

fn hierarchy_item(request: &Request<'_>) -> Option<Value> {
    let class = request.analysis.class_at(&request.path, request.offset()?)?;
    Some(json!([item(request, &class)?]))
}

/// Path and byte of the name of an item that the editor sends back.
fn place_of_item(request: &Request<'_>) -> Option<(PathBuf, u32)> {
    let item = &request.params["item"];
    let path = uri::to_path(item["uri"].as_str()?);
    let offset = request.page_of(&path)?.offset(&item["selectionRange"]["start"]);
    Some((path, offset))
}

fn type_hierarchy<'a>(
    request: &Request<'a>,
    ask: impl Fn(&Analysis<'a>, &Path, u32) -> Vec<NavigationTarget>,
) -> Option<Value> {
    let (path, offset) = place_of_item(request)?;
    Some(ask(&request.analysis, &path, offset).iter().filter_map(|target| item(request, target)).collect())
}

fn call_hierarchy<'a>(
    request: &Request<'a>,
    ask: impl Fn(&Analysis<'a>, &Path, u32) -> Vec<CallSite>,
    end: &str,
) -> Option<Value> {
    let (path, offset) = place_of_item(request)?;
    let site = |site: &CallSite| {
        let ranges =
            site.calls.iter().filter_map(|place| Some(request.page_of(&place.path)?.range(place.start, place.end)));
        Some(json!({end: item(request, &site.class)?, "fromRanges": ranges.collect::<Vec<_>>()}))
    };
    Some(ask(&request.analysis, &path, offset).iter().filter_map(site).collect())
}
