//! Sites as a whole: every link leads somewhere, and nothing of a model runs.

use std::collections::{BTreeMap, BTreeSet};

use saltus::Session;
use saltus_diagram::{Layer, Painter, svg};
use saltus_doc::{Summary, write_site};
use saltus_library::MemoryFiles;

type Files = BTreeMap<String, Vec<u8>>;

fn site(session: &Session, package: &str) -> (Files, Summary) {
    let mut files = Files::new();
    let summary = write_site(session, &[package.to_owned()], &mut |name, content| {
        files.insert(name.to_owned(), content.to_vec());
        Ok(())
    });
    (files, summary.unwrap())
}

/// Values of an attribute in all tags of a page.
fn values(html: &str, attribute: &str) -> Vec<String> {
    let begin = format!(" {attribute}=\"");
    html.split('<')
        .filter_map(|tag| tag.split('>').next())
        .flat_map(|tag| tag.split(&begin).skip(1).filter_map(|rest| rest.split('"').next()))
        .map(|value| value.replace("&amp;", "&"))
        .collect()
}

/// Links and pictures that lead to a file or to a place in a page that is not there.
fn dead_links(files: &Files) -> Vec<String> {
    let pages: Vec<(&String, String)> = files
        .iter()
        .filter(|(name, _)| name.ends_with(".html"))
        .map(|(name, content)| (name, String::from_utf8(content.clone()).unwrap()))
        .collect();
    let ids: BTreeMap<&str, BTreeSet<String>> =
        pages.iter().map(|(name, html)| (name.as_str(), values(html, "id").into_iter().collect())).collect();
    let mut dead = Vec::new();
    for (name, html) in &pages {
        for link in values(html, "href").into_iter().chain(values(html, "src")) {
            if link.starts_with("http") || link.starts_with("mailto:") {
                continue;
            }
            let (file, id) = link.split_once('#').unwrap_or((&link, ""));
            let file = if file.is_empty() { name.as_str() } else { file };
            let is_there =
                files.contains_key(file) && (id.is_empty() || ids.get(file).is_some_and(|ids| ids.contains(id)));
            if !is_there {
                dead.push(format!("{name}: {link}"));
            }
        }
    }
    dead
}

#[test]
fn the_library_of_the_program_has_a_site_without_dead_links() {
    let session = Session::on_disk();
    let (files, summary) = site(&session, "Saltus");
    assert_eq!(dead_links(&files), Vec::<String>::new());
    assert_eq!((summary.notes, summary.missing), (Vec::new(), Vec::new()));
    let n_pages = files.keys().filter(|name| name.ends_with(".html")).count();
    assert_eq!(n_pages, summary.n_pages + 1, "one page a class, and the contents");
    assert!(summary.n_pages > 100, "{}", summary.n_pages);
    let page = String::from_utf8(files["Saltus.html"].clone()).unwrap();
    assert!(page.contains("<h2>Contents</h2>") && page.contains("Saltus.Examples.html"));
}

#[test]
fn every_class_of_the_library_of_the_program_is_drawn() {
    let session = Session::on_disk();
    let library = session.library();
    let mut todo = vec![library.find("Saltus").unwrap()];
    let mut n_drawn = 0;
    while let Some(class) = todo.pop() {
        todo.extend(library.children(class));
        for layer in [Layer::Icon, Layer::Diagram] {
            let scene = Painter::new(library).scene(class, layer).unwrap();
            assert_eq!(scene.notes, [], "{}", scene.class);
            let picture = svg::render(&scene, &svg::Style::default());
            assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>"));
            assert!(!picture.contains("NaN") && !picture.contains("inf"), "{}: {picture}", scene.class);
            n_drawn += 1;
        }
    }
    assert!(n_drawn > 200, "{n_drawn}");
}

const HOSTILE: &str = r#"package P "<script>alert(1)</script>"
  model 'a.b<script>' "&\"'<img src=x onerror=alert(1)>"
    parameter Real x(unit="<script>") = 1 "<script>alert(2)</script>";
    annotation(Icon(graphics={Text(extent={{0,0},{9,9}}, textString="</svg><script>alert(3)</script>")}),
      Documentation(info="<html><script>alert(4)</script><p onclick=\"alert(5)\">Hello <a href=\"javascript:alert(6)\">x</a>
        <a href=\"modelica://P.Missing\">gone</a> <a href=\"modelica://P.M#info\">M</a> <img src=\"https://evil.example/x.png\" alt=\"far\"></p></div></main></html>",
      revisions="<b>open"));
  end 'a.b<script>';
  model M end M;
  model m end m;
  model index end index;
protected
  model Hidden end Hidden;
end P;
"#;

#[test]
fn nothing_of_a_hostile_package_runs_and_its_links_are_alive() {
    let mut session = Session::new(Box::new(MemoryFiles::new()));
    session.set_text("P.mo", HOSTILE);
    let (files, summary) = site(&session, "P");
    assert_eq!(dead_links(&files), Vec::<String>::new());
    assert_eq!(summary.n_pages, 5, "protected classes have none");
    let lower: BTreeSet<String> = files.keys().map(|name| name.to_ascii_lowercase()).collect();
    assert_eq!(lower.len(), files.len(), "names differ also where case does not count");
    for (name, content) in &files {
        let text = String::from_utf8(content.clone()).unwrap();
        if name == "site.js" || name == "style.css" {
            continue;
        }
        let scripts: Vec<&str> = text.split("<script").skip(1).filter_map(|s| s.split('>').next()).collect();
        assert!(scripts.iter().all(|s| *s == " src=\"site.js\" defer"), "{name}: {scripts:?}");
        for word in ["onclick=", "onerror=alert(1)>", "javascript:", "evil.example"] {
            let is_quoted = text.contains("&lt;img src=x onerror=alert(1)&gt;") || name == "search.js";
            assert!(!text.contains(word) || word.starts_with("onerror") && is_quoted, "{name}: {word}");
        }
    }
    let missing: Vec<&str> = summary.missing.iter().map(|(_, address)| address.as_str()).collect();
    assert_eq!(missing, ["P.Missing", "https://evil.example/x.png"]);
    let page = files.iter().find(|(name, _)| name.contains("script")).unwrap().1;
    let page = String::from_utf8(page.clone()).unwrap();
    assert!(page.contains("<a href=\"P.M.html#info\">M</a>") && page.contains("[far]"), "{page}");
    assert!(page.contains("<b>open</b></section>"), "what is open is closed in its section");
}
