//! Components at the places that their declarations say.

use saltus_frontend::{Declaration, Scope, Symbol};
use saltus_library::annotations::{class_modification, named};
use saltus_syntax::ast::{self, ClassBody, ClassKind, ElementKind};

use crate::attributes::{Attributes, source_text};
use crate::geometry::{Extent, Matrix, UNIT_EXTENT};
use crate::macros::Subject;
use crate::notes;
use crate::painter::{Link, Painter, elements};
use crate::scene::{Component, Layer, Picture, Placement, Primitive, Shape};
use crate::value::{Evaluator, Value};

/// Connectors in connectors that are drawn.
const DEEPEST: usize = 4;

impl<'a> Painter<'a> {
    /// The components of a diagram. Those of predefined types are there only if they have a place.
    pub(crate) fn components(&mut self, scope: Scope, lineage: &[Link<'a>]) -> Vec<Component> {
        let members = self.scopes.members(scope);
        members.into_iter().filter_map(|member| self.component(member, lineage, Layer::Diagram)).collect()
    }

    /// The connectors of an icon.
    pub(crate) fn ports(&mut self, scope: Scope, lineage: &[Link<'a>]) -> Vec<Component> {
        if self.depth > DEEPEST {
            return Vec::new();
        }
        let members = self.scopes.members(scope);
        let ports = members.into_iter().filter_map(|member| self.component(member, lineage, Layer::Icon));
        ports.collect()
    }

    fn component(&mut self, symbol: Symbol, lineage: &[Link<'a>], layer: Layer) -> Option<Component> {
        let declaration = self.scopes.declaration(symbol)?;
        let Declaration::Component { owner, clause, component, is_protected } = declaration else { return None };
        // What is redeclared without a place of its own stays where it was.
        let own = placement_of(self, clause, component);
        let given = own.or_else(|| self.inherited_placement(component.name, lineage));
        let class = self.scopes.class_of(symbol);
        let kind = class.and_then(|class| self.scopes.declaration(class)).map(class_kind);
        let is_connector = kind.is_some_and(|kind| kind == Some(ClassKind::Connector));
        if layer == Layer::Icon && (!is_connector || is_protected || given.is_none()) {
            return None;
        }
        let is_part = matches!(kind, Some(Some(_))) && clause.variability.is_none();
        if given.is_none() && !is_part || !self.count_part(component.span) {
            return None;
        }
        let link = lineage.iter().find(|link| link.class == owner);
        let link_scope = link.or(lineage.last())?.scope;
        let placement = given.and_then(|given| self.placement(given, link_scope, layer));
        if layer == Layer::Icon && !placement.as_ref().is_some_and(|placement| placement.visible) {
            return None;
        }
        let (condition, is_present) = self.condition(symbol);
        if self.depth > 0 && is_present == Some(false) {
            return None;
        }
        let name = self.text(component.name.name).to_owned();
        let class_id = class.and_then(|class| self.scopes.class_id(class));
        let class_name = match class_id {
            Some(id) => self.library().qualified_name(id),
            None => {
                let written = source_text(self.library(), clause.type_name.span).to_owned();
                self.note(notes::missing_class(&name, &written), clause.type_name.span);
                written
            }
        };
        let picture = match placement.as_ref().is_some_and(|placement| placement.visible) {
            true => self.component_picture(symbol, &name, &class_name, class_id, is_connector, layer),
            false => Picture::default(),
        };
        let map = link.map_or(Matrix::IDENTITY, |link| link.map);
        let extent = picture.system.extent;
        let matrix = placement.as_ref().map_or(map, |placement| map.after(&placement.matrix(extent)));
        let is_own = link.is_none_or(|link| link.is_own);
        Some(Component {
            class: class_name,
            description: declaration.description().parts.iter().map(|part| &*part.value).collect(),
            inherited_from: (!is_own).then(|| self.library().qualified_name(owner)),
            is_connector,
            direction: self.direction(symbol, clause),
            is_protected,
            is_replaceable: clause.prefixes.is_replaceable,
            dimensions: self.dimensions(clause, component),
            condition,
            is_present,
            bounds: if placement.is_some() { matrix.bounds(extent) } else { [[0.0; 2]; 2] },
            placement,
            matrix,
            picture,
            source: self.place(component.span),
            name,
        })
    }

    fn component_picture(
        &mut self,
        symbol: Symbol,
        name: &str,
        class_name: &str,
        class: Option<saltus_library::ClassId>,
        is_connector: bool,
        layer: Layer,
    ) -> Picture {
        let Some(inside) = self.scopes.inside(symbol) else { return missing_picture(name) };
        // A connector that has itself as a member would not end.
        if class.is_some_and(|class| self.open.iter().filter(|open| **open == class).count() > 1) {
            return Picture::default();
        }
        self.open.extend(class);
        self.path.push(name.to_owned());
        let short = class_name.rsplit('.').next().unwrap_or(class_name);
        let subject = Subject { name: name.to_owned(), class: short.to_owned(), scope: inside };
        let mut picture = Picture::default();
        let has_primitives = |picture: &Picture| !picture.primitives.is_empty();
        if is_connector && layer == Layer::Diagram {
            picture = self.picture(inside, Layer::Diagram, &subject);
        }
        if !has_primitives(&picture) {
            picture = self.picture(inside, Layer::Icon, &subject);
        }
        if !has_primitives(&picture) {
            picture.primitives.push(outline(picture.system.extent));
        }
        self.path.pop();
        if class.is_some() {
            self.open.pop();
        }
        picture
    }

    /// `Placement(…)` of the declaration of this name in one of the classes, the nearest first.
    fn inherited_placement(&self, name: ast::Ident, lineage: &[Link<'a>]) -> Option<&'a ast::ClassModification> {
        lineage.iter().rev().find_map(|link| {
            let ClassBody::Long(body) = &link.definition.body else { return None };
            let clauses = elements(body).filter_map(|(element, _)| match &element.kind {
                ElementKind::Components(clause) => Some(clause),
                _ => None,
            });
            let components = clauses.flat_map(|clause| clause.components.iter().map(move |c| (clause, c)));
            let mut same = components.filter(|(_, component)| component.name.name == name.name);
            same.find_map(|(clause, component)| placement_of(self, clause, component))
        })
    }

    fn placement(&mut self, given: &'a ast::ClassModification, scope: Scope, layer: Layer) -> Option<Placement> {
        let library = self.library();
        let mut all = Attributes::of_modification(library, scope, given);
        let mut visible = all.boolean(self, "visible", true);
        if layer == Layer::Icon {
            visible = all.boolean(self, "iconVisible", visible);
        }
        let part = |name: &str| named(given, library.intern(name)).next().and_then(class_modification);
        let in_icon = part("iconTransformation").filter(|_| layer == Layer::Icon);
        let Some(transformation) = in_icon.or_else(|| part("transformation")) else {
            return Some(Placement { visible, origin: [0.0; 2], extent: default_extent(), rotation: 0.0 });
        };
        let mut given = Attributes::of_modification(library, scope, transformation);
        let extent = given.extent(self, "extent");
        if extent.is_none() {
            self.note(notes::missing_attribute("transformation", "extent"), transformation.span);
        }
        Some(Placement {
            visible,
            origin: given.point(self, "origin", [0.0; 2]),
            extent: extent.unwrap_or_else(default_extent),
            rotation: given.number(self, "rotation", 0.0),
        })
    }

    /// The condition of a component as written, and whether it holds.
    fn condition(&mut self, symbol: Symbol) -> (Option<String>, Option<bool>) {
        let Some((condition, scope)) = self.scopes.condition(symbol) else { return (None, None) };
        let holds = match Evaluator::new(&mut self.scopes).value(scope, condition) {
            Some(Value::Boolean(holds)) => Some(holds),
            _ => None,
        };
        (Some(source_text(self.library(), condition.span).to_owned()), holds)
    }

    fn dimensions(&self, clause: &ast::ComponentClause, component: &ast::Component) -> Vec<String> {
        let subscripts = component.subscripts.iter().chain(&clause.subscripts);
        subscripts
            .map(|subscript| match subscript {
                ast::Subscript::Colon(_) => ":".to_owned(),
                ast::Subscript::Expr(expr) => source_text(self.library(), expr.span).to_owned(),
            })
            .collect()
    }

    /// `input` or `output`, of the declaration or of the connector's class.
    fn direction(&mut self, symbol: Symbol, clause: &ast::ComponentClause) -> Option<&'static str> {
        let mut direction = clause.direction;
        let mut class = self.scopes.class_of(symbol);
        for _ in 0..DEEPEST {
            let Some(Declaration::Class { definition, .. }) = class.and_then(|class| self.scopes.declaration(class))
            else {
                break;
            };
            let ClassBody::Short(short) = &definition.body else { break };
            direction = direction.or(short.direction);
            let around = class.and_then(|class| self.scopes.inside(class));
            class = around.and_then(|around| {
                let [only] = short.base.parts.as_slice() else { return None };
                self.scopes.lookup(around, only.name)
            });
        }
        direction.map(|direction| match direction {
            ast::Direction::Input => "input",
            ast::Direction::Output => "output",
        })
    }
}

/// `Placement(…)` of a declaration; it may stand behind the constraining clause.
fn placement_of<'a>(
    painter: &Painter<'a>,
    clause: &'a ast::ComponentClause,
    component: &'a ast::Component,
) -> Option<&'a ast::ClassModification> {
    let constraint = clause.constrained_by.as_ref().map(|constraint| &constraint.comment);
    let name = painter.library().intern("Placement");
    [Some(&component.comment), constraint]
        .into_iter()
        .flatten()
        .find_map(|comment| named(&comment.annotation.as_ref()?.modification, name).next().and_then(class_modification))
}

/// The kind of a class that is more than a predefined type or an enumeration.
fn class_kind(declaration: Declaration<'_>) -> Option<ClassKind> {
    let Declaration::Class { definition, .. } = declaration else { return None };
    match definition.kind {
        ClassKind::ExpandableConnector | ClassKind::Connector => Some(ClassKind::Connector),
        ClassKind::Type | ClassKind::Function | ClassKind::OperatorFunction | ClassKind::Package => None,
        _ if matches!(definition.body, ClassBody::Enumeration(_)) => None,
        ClassKind::Record | ClassKind::OperatorRecord => None,
        kind => Some(kind),
    }
}

fn default_extent() -> Extent {
    [[-10.0, -10.0], [10.0, 10.0]]
}

/// What stands for a class without a picture (specification 18.6.3.1).
fn outline(extent: Extent) -> Primitive {
    use crate::scene::{BorderPattern, Fill, FillPattern, LinePattern};
    let fill = Fill {
        line_color: [128, 128, 128],
        fill_color: [250, 250, 250],
        pattern: LinePattern::Solid,
        fill_pattern: FillPattern::Solid,
        line_thickness: 0.25,
    };
    let shape = Shape::Rectangle { extent, radius: 0.0, border_pattern: BorderPattern::None, fill };
    Primitive { shape, visible: true, matrix: Matrix::IDENTITY, source: None, dynamic: Vec::new() }
}

/// What stands for a component whose class is not found: a red outline with the name of the component.
fn missing_picture(name: &str) -> Picture {
    use crate::scene::{Alignment, Text};
    let mut frame = outline(UNIT_EXTENT);
    if let Shape::Rectangle { fill, .. } = &mut frame.shape {
        fill.line_color = [200, 0, 0];
    }
    let text = Shape::Text(Text {
        extent: [[-90.0, -30.0], [90.0, 30.0]],
        text: name.to_owned(),
        color: [200, 0, 0],
        font_size: 0.0,
        font_name: String::new(),
        bold: false,
        italic: false,
        underline: false,
        alignment: Alignment::Center,
    });
    let text = Primitive { shape: text, visible: true, matrix: Matrix::IDENTITY, source: None, dynamic: Vec::new() };
    Picture { primitives: vec![frame, text], ..Picture::default() }
}
