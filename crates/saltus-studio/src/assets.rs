//! The files of the front end, which are part of the program.

/// Path, type and bytes.
type Asset = (&'static str, &'static str, &'static [u8]);

macro_rules! assets {
    ($($path:literal, $kind:literal, $file:literal;)*) => {
        const ASSETS: &[Asset] = &[$(($path, $kind, include_bytes!(concat!("../web/", $file)))),*];
    };
}

assets! {
    "/", "text/html; charset=utf-8", "index.html";
    "/studio.css", "text/css; charset=utf-8", "studio.css";
    "/documentation.css", "text/css; charset=utf-8", "documentation.css";
    "/icon.svg", "image/svg+xml", "icon.svg";
    "/main.js", "text/javascript; charset=utf-8", "main.js";
    "/api.js", "text/javascript; charset=utf-8", "api.js";
    "/dom.js", "text/javascript; charset=utf-8", "dom.js";
    "/store.js", "text/javascript; charset=utf-8", "store.js";
    "/tree.js", "text/javascript; charset=utf-8", "tree.js";
    "/editor.js", "text/javascript; charset=utf-8", "editor.js";
    "/merge.js", "text/javascript; charset=utf-8", "merge.js";
    "/names.js", "text/javascript; charset=utf-8", "names.js";
    "/parameters.js", "text/javascript; charset=utf-8", "parameters.js";
    "/variables.js", "text/javascript; charset=utf-8", "variables.js";
    "/plots.js", "text/javascript; charset=utf-8", "plots.js";
    "/draw.js", "text/javascript; charset=utf-8", "draw.js";
    "/scales.js", "text/javascript; charset=utf-8", "scales.js";
    "/events.js", "text/javascript; charset=utf-8", "events.js";
    "/runs.js", "text/javascript; charset=utf-8", "runs.js";
    "/layout.js", "text/javascript; charset=utf-8", "layout.js";
    "/configurations.js", "text/javascript; charset=utf-8", "configurations.js";
    "/lines.js", "text/javascript; charset=utf-8", "lines.js";
    "/moving.js", "text/javascript; charset=utf-8", "moving.js";
    "/profile.js", "text/javascript; charset=utf-8", "profile.js";
    "/structure.js", "text/javascript; charset=utf-8", "structure.js";
    "/scatter.js", "text/javascript; charset=utf-8", "scatter.js";
    "/search.js", "text/javascript; charset=utf-8", "search.js";
    "/searches.js", "text/javascript; charset=utf-8", "searches.js";
    "/study.js", "text/javascript; charset=utf-8", "study.js";
    "/sweep.js", "text/javascript; charset=utf-8", "sweep.js";
    "/units.js", "text/javascript; charset=utf-8", "units.js";
    "/animation.js", "text/javascript; charset=utf-8", "animation.js";
    "/shapes.js", "text/javascript; charset=utf-8", "shapes.js";
    "/diagram.js", "text/javascript; charset=utf-8", "diagram.js";
    "/wiring.js", "text/javascript; charset=utf-8", "wiring.js";
    "/help.js", "text/javascript; charset=utf-8", "help.js";
    "/dialog.js", "text/javascript; charset=utf-8", "dialog.js";
    "/icons.js", "text/javascript; charset=utf-8", "icons.js";
    "/documentation.js", "text/javascript; charset=utf-8", "documentation.js";
}

/// Only these paths exist: nothing is looked up on the disk.
pub fn find(path: &str) -> Option<(&'static str, &'static [u8])> {
    ASSETS.iter().find(|(known, ..)| *known == path).map(|(_, kind, bytes)| (*kind, *bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page loads its own files alone, all of which exist, and has no script or style inside.
    #[test]
    fn the_page_is_complete_and_alone() {
        let page = String::from_utf8_lossy(find("/").unwrap().1);
        for (path, kind, bytes) in ASSETS {
            let text = std::str::from_utf8(bytes).unwrap();
            if kind.starts_with("text/html") {
                assert!(!text.contains("onclick=") && !text.contains("style=") && !text.contains("<style"), "{path}");
                for address in text.split(['"']).filter(|a| a.starts_with('/')) {
                    assert!(find(address).is_some(), "{path} refers to {address}");
                }
            }
            if kind.starts_with("text/javascript") {
                // Asked for at once, instead of when the module that imports it has come.
                let preloaded = format!("<link rel=\"modulepreload\" href=\"{path}\">");
                assert!(page.contains(&preloaded), "{path} is not preloaded");
                for line in text.lines().filter(|line| line.starts_with("import ")) {
                    let from = line.rsplit('"').nth(1).unwrap_or_default();
                    assert!(from.strip_prefix('.').and_then(find).is_some(), "{path}: {line}");
                }
                for bad in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"] {
                    assert!(!text.contains(bad), "{path} has {bad}");
                }
            }
            let foreign = text.matches("http").filter(|_| text.contains("https://")).count();
            assert!(foreign == 0, "{path} names an address elsewhere");
        }
    }
}
