//! Classes as pictures: what a layer consists of, through inheritance.

use saltus_base::{Name, Span};
use saltus_frontend::{Scope, Scopes};
use saltus_library::annotations::{annotation_of, class_modification, named};
use saltus_library::{ClassId, Library};
use saltus_syntax::ast::{self, ClassBody, ElementKind, Section};

use crate::attributes::{Attributes, value};
use crate::geometry::{Extent, Matrix, centre, ordered};
use crate::macros::Subject;
use crate::notes;
use crate::scene::{CoordinateSystem, Layer, Note, Picture, Place, Primitive, Scene};
use crate::value::Value;

/// Bases of bases that are looked at; more mean that a class extends itself.
const DEEPEST: usize = 60;

/// Classes in all that a picture inherits from.
const MOST_BASES: usize = 500;

/// Primitives and components of one picture, those inside of components included.
const MOST_PARTS: usize = 200_000;

/// Values of variables by their full names.
pub(crate) type Values<'a> = Box<dyn Fn(&str) -> Option<Value> + 'a>;

/// Draws the classes of a library. What it has found out about classes it keeps.
pub struct Painter<'a> {
    pub(crate) scopes: Scopes<'a>,
    notes: Vec<Note>,
    n_parts: usize,
    /// Inside of components nobody edits, and nothing is noted.
    pub(crate) depth: usize,
    /// The connectors that are being drawn, so that one in itself ends.
    pub(crate) open: Vec<ClassId>,
    /// Values for `DynamicSelect`.
    pub(crate) moment: Option<Values<'a>>,
    /// The components that are being drawn, from the outermost.
    pub(crate) path: Vec<String>,
}

/// A class that a picture is made of: the class itself or one that it extends.
#[derive(Clone, Copy)]
pub(crate) struct Link<'a> {
    pub scope: Scope,
    pub class: ClassId,
    pub definition: &'a ast::ClassDef,
    /// From its coordinates to those of the class that is drawn.
    pub map: Matrix,
    pub primitives_visible: bool,
    pub is_own: bool,
}

impl<'a> Painter<'a> {
    pub fn new(library: &'a Library) -> Self {
        Self {
            scopes: Scopes::new(library),
            notes: Vec::new(),
            n_parts: 0,
            depth: 0,
            open: Vec::new(),
            moment: None,
            path: Vec::new(),
        }
    }

    /// Draws classes as `DynamicSelect` says for a moment of a simulation; `values` knows variables by their full names.
    pub fn at(self, values: impl Fn(&str) -> Option<Value> + 'a) -> Self {
        Self { moment: Some(Box::new(values)), ..self }
    }

    pub(crate) fn library(&self) -> &'a Library {
        self.scopes.library()
    }

    pub(crate) fn text(&self, name: Name) -> &'a str {
        self.library().text(name)
    }

    /// A picture of a class; `None` if it has no text.
    pub fn scene(&mut self, class: ClassId, layer: Layer) -> Option<Scene> {
        (self.n_parts, self.depth) = (0, 0);
        self.notes.clear();
        self.open.clear();
        self.path.clear();
        let definition = self.library().definition(class)?;
        let scope = self.scopes.own_scope(class)?;
        let name = self.text(definition.name.name).to_owned();
        let subject = Subject { name: name.clone(), class: name, scope };
        let lineage = self.lineage(scope, layer);
        let primitives = self.primitives(&lineage, layer, &subject);
        let components = match layer {
            Layer::Icon => self.ports(scope, &lineage),
            Layer::Diagram => self.components(scope, &lineage),
        };
        let connections = match layer {
            Layer::Icon => Vec::new(),
            Layer::Diagram => self.connections(&lineage, &subject),
        };
        Some(Scene {
            class: self.library().qualified_name(class),
            layer,
            system: self.system(scope, layer, 0),
            primitives,
            components,
            connections,
            notes: std::mem::take(&mut self.notes),
        })
    }

    /// The primitives of a layer and its coordinate system, for a component.
    pub(crate) fn picture(&mut self, scope: Scope, layer: Layer, subject: &Subject) -> Picture {
        self.depth += 1;
        let lineage = self.lineage(scope, layer);
        let primitives = self.primitives(&lineage, layer, subject);
        let ports = self.ports(scope, &lineage);
        self.depth -= 1;
        Picture { system: self.system(scope, layer, 0), primitives, ports }
    }

    /// The classes that a layer consists of, in the order of drawing: bases first.
    pub(crate) fn lineage(&mut self, scope: Scope, layer: Layer) -> Vec<Link<'a>> {
        let mut links = Vec::new();
        self.add_links(scope, layer, Matrix::IDENTITY, true, 0, &mut links);
        if let Some(own) = links.last_mut() {
            own.is_own = true;
        }
        links
    }

    fn add_links(
        &mut self,
        scope: Scope,
        layer: Layer,
        map: Matrix,
        primitives_visible: bool,
        depth: usize,
        links: &mut Vec<Link<'a>>,
    ) {
        let class = self.scopes.class_of_scope(scope);
        let Some(definition) = self.library().definition(class) else { return };
        if depth > DEEPEST || links.len() > MOST_BASES {
            return;
        }
        for (base, given) in self.bases(scope, definition) {
            let how = self.inherited(given, scope, layer);
            let base_map = match how.extent {
                Some(extent) => map.after(&self.region(base, layer, extent)),
                None => map,
            };
            self.add_links(base, layer, base_map, primitives_visible && how.primitives_visible, depth + 1, links);
        }
        links.push(Link { scope, class, definition, map, primitives_visible, is_own: false });
    }

    /// The bases of a class with the annotations of their clauses.
    fn bases(&mut self, scope: Scope, definition: &'a ast::ClassDef) -> Vec<(Scope, Option<&'a ast::Annotation>)> {
        let bases = self.scopes.bases(scope);
        let given: Vec<Option<&ast::Annotation>> = match &definition.body {
            ClassBody::Short(short) => vec![short.comment.annotation.as_ref()],
            ClassBody::Long(body) => elements(body)
                .filter_map(|(element, _)| match &element.kind {
                    ElementKind::Extends(extends) => Some(extends.annotation.as_ref()),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        // A base that is not found leaves it open which clause is whose.
        let is_known = given.len() == bases.len();
        let clause = |i: usize| given.get(i).copied().flatten().filter(|_| is_known);
        bases.into_iter().enumerate().map(|(i, base)| (base, clause(i))).collect()
    }

    /// What `IconMap` or `DiagramMap` says about a base.
    fn inherited(&mut self, given: Option<&'a ast::Annotation>, scope: Scope, layer: Layer) -> Inherited {
        let name = match layer {
            Layer::Icon => "IconMap",
            Layer::Diagram => "DiagramMap",
        };
        let map = given.and_then(|a| named(&a.modification, self.library().intern(name)).next());
        let Some(map) = map.and_then(class_modification) else {
            return Inherited { extent: None, primitives_visible: true };
        };
        let mut map = Attributes::of_modification(self.library(), scope, map);
        let extent = map.extent(self, "extent").filter(|extent| *extent != [[0.0; 2]; 2]);
        Inherited { extent, primitives_visible: map.boolean(self, "primitivesVisible", true) }
    }

    /// Maps the coordinate system of a base onto a region.
    fn region(&mut self, base: Scope, layer: Layer, extent: Extent) -> Matrix {
        let system = self.system(base, layer, 0);
        let mut target = extent;
        if system.preserve_aspect_ratio {
            let [low, high] = ordered(extent);
            let [from, to] = ordered(system.extent);
            let scale = ((high[0] - low[0]) / (to[0] - from[0])).min((high[1] - low[1]) / (to[1] - from[1]));
            let middle = centre(extent);
            for axis in 0..2 {
                let half = scale * (to[axis] - from[axis]) / 2.0 * (extent[1][axis] - extent[0][axis]).signum();
                (target[0][axis], target[1][axis]) = (middle[axis] - half, middle[axis] + half);
            }
        }
        Matrix::mapping(system.extent, target)
    }

    /// The coordinate system of a class: its own, else that of its first base that is not mapped.
    pub(crate) fn system(&mut self, scope: Scope, layer: Layer, depth: usize) -> CoordinateSystem {
        let class = self.scopes.class_of_scope(scope);
        let Some(definition) = self.library().definition(class) else { return CoordinateSystem::default() };
        let given = self.layer(definition, layer).and_then(|layer| {
            named(layer, self.library().intern("coordinateSystem")).next().and_then(class_modification)
        });
        let mut own = given.map(|given| Attributes::of_modification(self.library(), scope, given));
        let has = |name: &str| own.as_ref().is_some_and(|own| own.expr(name).is_some());
        let mut system = CoordinateSystem::default();
        if depth < DEEPEST && !(has("extent") && has("preserveAspectRatio")) {
            let bases = self.bases(scope, definition);
            let first = bases.into_iter().find(|(_, given)| self.inherited(*given, scope, layer).extent.is_none());
            if let Some((base, _)) = first {
                system = self.system(base, layer, depth + 1);
            }
        }
        let Some(own) = &mut own else { return system };
        let is_proper = |[low, high]: &Extent| low[0] < high[0] && low[1] < high[1];
        if let Some(extent) = own.extent(self, "extent").map(ordered).filter(is_proper) {
            system.extent = extent;
        }
        system.preserve_aspect_ratio = own.boolean(self, "preserveAspectRatio", system.preserve_aspect_ratio);
        system.initial_scale = own.number(self, "initialScale", system.initial_scale);
        system.grid = own.point(self, "grid", system.grid);
        system
    }

    /// What stands in `Icon(…)` or `Diagram(…)` of a class.
    fn layer(&self, definition: &'a ast::ClassDef, layer: Layer) -> Option<&'a ast::ClassModification> {
        let name = match layer {
            Layer::Icon => "Icon",
            Layer::Diagram => "Diagram",
        };
        named(annotation_of(definition)?, self.library().intern(name)).next().and_then(class_modification)
    }

    fn primitives(&mut self, lineage: &[Link<'a>], layer: Layer, subject: &Subject) -> Vec<Primitive> {
        let mut all = Vec::new();
        for link in lineage.iter().filter(|link| link.primitives_visible) {
            let layer = self.layer(link.definition, layer);
            let graphics = layer.and_then(|layer| named(layer, self.library().intern("graphics")).next());
            let Some(graphics) = graphics.and_then(value) else { continue };
            let mut drawn = self.graphics(link.scope, graphics, subject);
            for primitive in &mut drawn {
                primitive.matrix = link.map.after(&primitive.matrix);
                if !link.is_own {
                    primitive.source = None;
                }
            }
            all.append(&mut drawn);
        }
        all
    }

    pub(crate) fn note(&mut self, message: String, span: Span) {
        if self.depth == 0 {
            let source = self.place(span);
            self.notes.push(Note { message, source });
        }
    }

    /// Counts a part of the picture; false if there are too many.
    pub(crate) fn count_part(&mut self, span: Span) -> bool {
        self.n_parts += 1;
        if self.n_parts == MOST_PARTS {
            let source = self.place(span);
            self.notes.push(Note { message: notes::too_many(), source });
        }
        self.n_parts < MOST_PARTS
    }

    /// Where something of the picture's own text stands.
    pub(crate) fn place(&self, span: Span) -> Option<Place> {
        if self.depth > 0 {
            return None;
        }
        let source = self.library().source(span.file)?;
        Some(Place { file: source.path.clone(), start: span.start, end: span.end })
    }
}

struct Inherited {
    /// The region that the base is mapped to, if it is not taken as it is.
    extent: Option<Extent>,
    primitives_visible: bool,
}

/// The elements of a class, each with whether it is protected.
pub(crate) fn elements(body: &ast::LongClass) -> impl Iterator<Item = (&ast::Element, bool)> {
    body.sections.iter().flat_map(|section| {
        let (elements, is_protected) = match section {
            Section::Elements { elements, visibility, .. } => {
                (elements.as_slice(), *visibility == ast::Visibility::Protected)
            }
            _ => (&[][..], false),
        };
        elements.iter().map(move |element| (element, is_protected))
    })
}
