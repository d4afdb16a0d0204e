//! Writes the files of a site.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use saltus::Session;
use saltus_diagram::svg::{self, Style};
use saltus_diagram::{Layer, Painter, Scene, media_type};
use saltus_ide::Analysis;
use saltus_library::{ClassId, Library};

use crate::classes::{Classes, fingerprint};
use crate::page::{self, Page};
use crate::sanitize::Links;

/// Classes after which a painter is made anew, so that what it keeps does not grow without limit.
const CLASSES_PER_PAINTER: usize = 200;

/// Larger files of packages are not copied.
const LARGEST: usize = 20_000_000;

/// Kinds of files that documentation may link to; pages of others are not among them, since they may contain scripts.
const COPIED: [&str; 9] = ["pdf", "txt", "csv", "mat", "png", "jpg", "jpeg", "gif", "c"];

/// Stores a file: its name with slashes, and its content.
pub type Store<'s> = dyn FnMut(&str, &[u8]) -> io::Result<()> + 's;

#[derive(Clone, PartialEq, Default, Debug)]
pub struct Summary {
    pub n_pages: usize,
    /// Classes with an icon, own or inherited.
    pub n_icons: usize,
    pub n_diagrams: usize,
    /// Files of the packages that pages show or link to.
    pub n_resources: usize,
    /// Addresses of classes and files in the documentation that lead nowhere, with the class: they are shown as text.
    pub missing: Vec<(String, String)>,
    /// What could not be drawn, with the class.
    pub notes: Vec<(String, String)>,
}

#[derive(Debug)]
pub enum SiteError {
    UnknownPackage(String),
    Io(String, io::Error),
}

impl std::fmt::Display for SiteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SiteError::UnknownPackage(name) => write!(f, "the package `{name}` is not found"),
            SiteError::Io(file, error) => write!(f, "`{file}` cannot be written: {error}"),
        }
    }
}

/// Writes the site of some packages.
pub fn write_site(session: &Session, packages: &[String], store: &mut Store<'_>) -> Result<Summary, SiteError> {
    let library = session.library();
    let find = |name: &String| library.find(name).ok_or_else(|| SiteError::UnknownPackage(name.clone()));
    let roots = packages.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    let mut site = Site {
        library,
        classes: Classes::of(library, &roots),
        store,
        icons: BTreeMap::new(),
        drawn: BTreeMap::new(),
        resources: BTreeMap::new(),
        summary: Summary::default(),
        error: None,
    };
    site.draw_icons();
    for id in site.classes.ids.clone() {
        site.class_page(session, id);
    }
    site.index(session, packages);
    site.put("search.js", page::search_index(session, library, &site.classes).as_bytes());
    site.put("site.js", page::SCRIPT.as_bytes());
    site.put("style.css", page::STYLE.as_bytes());
    match site.error.take() {
        Some((file, error)) => Err(SiteError::Io(file, error)),
        None => Ok(site.summary),
    }
}

struct Site<'a, 's, 'k> {
    library: &'a Library,
    classes: Classes,
    store: &'s mut Store<'k>,
    /// Files of pictures that were written, by their content.
    drawn: BTreeMap<u64, String>,
    /// The file of the icon of each class.
    icons: BTreeMap<String, String>,
    /// Files of packages, by their address; `None` for those that cannot be had.
    resources: BTreeMap<String, Option<String>>,
    summary: Summary,
    error: Option<(String, io::Error)>,
}

impl Site<'_, '_, '_> {
    fn put(&mut self, file: &str, content: &[u8]) {
        if self.error.is_none()
            && let Err(error) = (self.store)(file, content)
        {
            self.error = Some((file.to_owned(), error));
        }
    }

    fn draw_icons(&mut self) {
        let mut painter = Painter::new(self.library);
        for (i, id) in self.classes.ids.clone().into_iter().enumerate() {
            if i % CLASSES_PER_PAINTER == 0 {
                painter = Painter::new(self.library);
            }
            let Some(scene) = painter.scene(id, Layer::Icon) else { continue };
            self.note(&scene);
            if scene.primitives.iter().all(|primitive| !primitive.visible) && scene.components.is_empty() {
                continue;
            }
            let file = self.picture(&scene, true);
            self.icons.insert(scene.class, file);
            self.summary.n_icons += 1;
        }
    }

    fn note(&mut self, scene: &Scene) {
        self.summary.notes.extend(scene.notes.iter().map(|note| (scene.class.clone(), note.message.clone())));
    }

    /// Writes a picture if there is none like it, and says where it is.
    fn picture(&mut self, scene: &Scene, thin_lines: bool) -> String {
        let style = Style { id: "s", thin_lines, sheet: false };
        let picture = svg::render(scene, &style);
        let content = fingerprint(picture.as_bytes());
        if let Some(known) = self.drawn.get(&content) {
            return known.clone();
        }
        let file = format!("pictures/{content:016x}.svg");
        self.put(&file, picture.as_bytes());
        self.drawn.insert(content, file.clone());
        file
    }

    fn class_page(&mut self, session: &Session, id: ClassId) {
        let name = self.library.qualified_name(id);
        let Some(info) = Analysis::new(session).info(&name) else { return };
        let diagram = Painter::new(self.library).scene(id, Layer::Diagram).and_then(|scene| {
            self.note(&scene);
            let is_empty = scene.primitives.is_empty() && !scene.components.iter().any(|c| c.is_visible());
            if is_empty {
                return None;
            }
            self.summary.n_diagrams += 1;
            Some((self.picture(&scene, false), scene))
        });
        let mut links = PageLinks { site: self, class: name.clone(), id };
        let info_html = crate::classes::documentation(links.site.library, id, "info");
        let info_html = info_html.map(|html| crate::sanitize(&html, &mut links));
        let revisions = crate::classes::documentation(links.site.library, id, "revisions");
        let revisions = revisions.map(|html| crate::sanitize(&html, &mut links));
        let page = Page {
            info: &info,
            icons: &self.icons,
            classes: &self.classes,
            diagram: diagram.as_ref().map(|(file, scene)| (file.as_str(), scene)),
            documentation: info_html.as_deref(),
            revisions: revisions.as_deref(),
        };
        let html = page.html();
        if let Some(file) = self.classes.file(&name).map(str::to_owned) {
            self.put(&file, html.as_bytes());
            self.summary.n_pages += 1;
        }
    }

    fn index(&mut self, session: &Session, packages: &[String]) {
        let lines = packages.iter().filter_map(|package| {
            let info = Analysis::new(session).info(package)?;
            Some((package.clone(), info.words, info.description))
        });
        let html = page::index(&lines.collect::<Vec<_>>(), &self.icons, &self.classes);
        self.put("index.html", html.as_bytes());
    }

    /// Copies a file of a package.
    fn copy(&mut self, class: ClassId, uri: &str, is_image: bool) -> Option<String> {
        let path: PathBuf = self.library.resolve_uri_from(class, uri)?;
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        let is_svg = extension == "svg";
        if !(COPIED.contains(&extension.as_str()) || is_image && (is_svg || extension == "bmp")) {
            return None;
        }
        let bytes = self.library.read_resource(&path).ok().filter(|bytes| bytes.len() <= LARGEST)?;
        if is_image {
            media_type(&bytes)?;
        }
        let stem: String = path
            .file_stem()?
            .to_str()?
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c))
            .take(60)
            .collect();
        let file = format!("resources/{stem}-{:08x}.{extension}", fingerprint(&bytes) as u32);
        self.put(&file, &bytes);
        self.summary.n_resources += 1;
        Some(file)
    }
}

/// Addresses in the documentation of a class.
struct PageLinks<'p, 'a, 's, 'k> {
    site: &'p mut Site<'a, 's, 'k>,
    class: String,
    id: ClassId,
}

impl Links for PageLinks<'_, '_, '_, '_> {
    fn class(&mut self, name: &str) -> Option<String> {
        let file = self.site.classes.file(name).map(str::to_owned);
        // A class of a library that the site is not about is not a mistake.
        if file.is_none() && self.site.library.find(name).is_none() {
            self.site.summary.missing.push((self.class.clone(), name.to_owned()));
        }
        file
    }

    fn resource(&mut self, uri: &str, is_image: bool) -> Option<String> {
        let lower = uri.to_ascii_lowercase();
        if !lower.starts_with("modelica:") {
            self.site.summary.missing.push((self.class.clone(), uri.to_owned()));
            return None;
        }
        if let Some(known) = self.site.resources.get(uri) {
            return known.clone();
        }
        let file = self.site.copy(self.id, uri, is_image);
        if file.is_none() {
            self.site.summary.missing.push((self.class.clone(), uri.to_owned()));
        }
        self.site.resources.insert(uri.to_owned(), file.clone());
        file
    }
}
