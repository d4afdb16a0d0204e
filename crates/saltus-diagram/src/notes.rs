//! The wording of what could not be drawn.

pub fn unknown_primitive(name: &str) -> String {
    format!("`{name}` is not a graphical primitive")
}

pub fn not_a_primitive() -> String {
    "expected a graphical primitive such as `Line(…)`".into()
}

pub fn missing_attribute(primitive: &str, attribute: &str) -> String {
    format!("`{primitive}` has no `{attribute}`, or a value that cannot be evaluated")
}

pub fn wrong_attribute(attribute: &str) -> String {
    format!("the value of `{attribute}` cannot be evaluated or has the wrong form; its default is shown")
}

pub fn unreadable_image(name: &str, reason: &str) -> String {
    format!("the image `{name}` cannot be shown: {reason}")
}

pub fn missing_class(component: &str, class: &str) -> String {
    format!("the class `{class}` of `{component}` is not found")
}

pub fn too_many() -> String {
    "the picture has more parts than can be shown".into()
}
