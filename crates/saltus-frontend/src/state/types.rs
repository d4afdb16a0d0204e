//! The types of the model: which class is which built-in type, enumeration or record.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use saltus_base::IdVec;
use saltus_flat::{BaseType, EnumId, EnumType, RecordId, RecordType};
use saltus_library::{ClassId, Library};

use crate::instance::{CompId, InstId, SimpleType, SlotId};

pub struct Types<'a> {
    pub builtin_classes: HashMap<ClassId, BaseType>,
    pub external_object: Option<ClassId>,
    pub enums: IdVec<EnumId, Arc<EnumType>>,
    enum_ids: HashMap<ClassId, EnumId>,
    /// Enumerations declared as `enumeration(:)`.
    unspecified_enums: HashSet<EnumId>,
    pub records: IdVec<RecordId, Arc<RecordType>>,
    pub record_slots: IdVec<RecordId, SlotId>,
    record_ids: HashMap<String, RecordId>,
    record_of_inst: HashMap<InstId, RecordId>,
    /// Record classes whose fields are being found.
    pub open_records: Vec<(ClassId, InstId)>,
    /// The types of leaves with the attributes they bring.
    pub leaf_types: HashMap<CompId, Rc<SimpleType<'a>>>,
}

impl Types<'_> {
    /// The predefined types of the library alone.
    pub fn new(library: &Library) -> Self {
        let predefined = [
            ("Real", BaseType::Real),
            ("Integer", BaseType::Integer),
            ("Boolean", BaseType::Boolean),
            ("String", BaseType::String),
            ("Clock", BaseType::Clock),
        ];
        Types {
            builtin_classes: predefined
                .into_iter()
                .filter_map(|(name, base)| Some((library.find(name)?, base)))
                .collect(),
            external_object: library.find("ExternalObject"),
            enums: IdVec::new(),
            enum_ids: HashMap::new(),
            unspecified_enums: HashSet::new(),
            records: IdVec::new(),
            record_slots: IdVec::new(),
            record_ids: HashMap::new(),
            record_of_inst: HashMap::new(),
            open_records: Vec::new(),
            leaf_types: HashMap::new(),
        }
    }

    pub fn enum_of(&self, class: ClassId) -> Option<EnumId> {
        self.enum_ids.get(&class).copied()
    }

    pub fn class_of_enum(&self, id: EnumId) -> Option<ClassId> {
        self.enum_ids.iter().find(|(_, known)| **known == id).map(|(&class, _)| class)
    }

    /// `is_unspecified` holds for `enumeration(:)`.
    pub fn add_enum(&mut self, class: ClassId, ty: EnumType, is_unspecified: bool) -> EnumId {
        let id = self.enums.push(Arc::new(ty));
        self.enum_ids.insert(class, id);
        if is_unspecified {
            self.unspecified_enums.insert(id);
        }
        id
    }

    pub fn is_unspecified(&self, id: EnumId) -> bool {
        self.unspecified_enums.contains(&id)
    }

    pub fn record_of(&self, inst: InstId) -> Option<RecordId> {
        self.record_of_inst.get(&inst).copied()
    }

    /// The id of a record type; equal types of several instances have one.
    pub fn add_record(&mut self, inst: InstId, slot: SlotId, record: RecordType) -> RecordId {
        let id = self.intern_record(slot, record);
        self.record_of_inst.insert(inst, id);
        id
    }

    /// The id of a record type of the class that `like` has.
    pub fn add_record_like(&mut self, record: RecordType, like: RecordId) -> RecordId {
        self.intern_record(self.record_slots[like], record)
    }

    fn intern_record(&mut self, slot: SlotId, record: RecordType) -> RecordId {
        let key = format!("{record:?}");
        if let Some(&id) = self.record_ids.get(&key) {
            return id;
        }
        let id = self.records.push(Arc::new(record));
        self.record_slots.push(slot);
        self.record_ids.insert(key, id);
        id
    }

    /// Records of one class that differ in the sizes of their fields are the same here.
    pub fn same_record(&self, a: BaseType, b: BaseType) -> bool {
        match (a, b) {
            (BaseType::Record(a), BaseType::Record(b)) => a == b || self.records[a].name == self.records[b].name,
            _ => false,
        }
    }

    /// Can a component of the type `wanted` be redeclared with the type `given`?
    pub fn is_subtype(&self, given: BaseType, wanted: BaseType) -> bool {
        match (given, wanted) {
            (BaseType::Enumeration(a), BaseType::Enumeration(b)) => {
                self.is_unspecified(b) || self.enums[a].literals == self.enums[b].literals
            }
            (BaseType::ExternalObject(_), BaseType::ExternalObject(_)) => true,
            (a, b) => a == b,
        }
    }

    /// The type in words.
    pub fn base_text(&self, base: BaseType) -> String {
        match base {
            BaseType::Real => "Real".to_owned(),
            BaseType::Integer => "Integer".to_owned(),
            BaseType::Boolean => "Boolean".to_owned(),
            BaseType::String => "String".to_owned(),
            BaseType::Enumeration(id) if self.is_unspecified(id) => "an enumeration".to_owned(),
            BaseType::Enumeration(id) => format!("an enumeration of {}", self.enums[id].literals.join(", ")),
            _ => "of another kind".to_owned(),
        }
    }
}
