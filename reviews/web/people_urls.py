"""Addresses of the people and teams of a workspace."""

from django.urls import path

from reviews.web import people_acts, people_pages

PEOPLE = "w/<slug:slug>/people/"
PERSON = f"{PEOPLE}<slug:login>/"

urlpatterns = [
    path(PEOPLE, people_pages.people, name="people"),
    path(f"{PEOPLE}invite", people_acts.person_invite, name="person-invite"),
    path(PERSON, people_pages.person, name="person"),
    path(f"{PERSON}role", people_acts.person_role, name="person-role"),
    path(f"{PERSON}seats", people_acts.person_seats, name="person-seats"),
    path(f"{PERSON}link", people_acts.person_link, name="person-link"),
    path(f"{PERSON}close", people_acts.person_close, name="person-close"),
    path(f"{PERSON}open", people_acts.person_open, name="person-open"),
    path(f"{PERSON}erase", people_acts.person_erase, name="person-erase"),
    path(f"{PERSON}remove", people_acts.person_remove, name="person-remove"),
]
